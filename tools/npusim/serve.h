/* SPDX-License-Identifier: MIT */
/* `npusim serve`: a model as the PCI device of a virtual machine. */
#ifndef SERVE_H
#define SERVE_H

/* What --help says of it. */
extern const char serve_usage[];

/* The command line from "serve" on; returns an exit status. */
int serve_main(int argc, char **argv);

#endif /* SERVE_H */
