// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients.h"
#include "tool.h"

#define DRIVER "nvdla"
#define NODE "/dev/accel/accel"

/* ---- one fdinfo ---- */

/* What stands behind "KEY:" at the start of a line; NULL where there is no such line. */
static const char *find_key(const char *text, const char *key)
{
	size_t length = strlen(key);
	const char *line = text;

	while (line) {
		if (strncmp(line, key, length) == 0 && line[length] == ':') {
			line += length + 1;
			return line + strspn(line, " \t");
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

static void get_text(const char *text, const char *key, char *value, size_t size)
{
	const char *found = find_key(text, key);
	size_t length = found ? strcspn(found, "\n") : 0;

	snprintf(value, size, "%.*s", (int)length, found ? found : "");
}

/* A number, with "KiB" or "MiB" behind it in bytes; 0 where there is none. */
static uint64_t get_number(const char *text, const char *key)
{
	const char *found = find_key(text, key);
	unsigned long long number;
	char *end;

	if (!found || !isdigit((unsigned char)*found))
		return 0;
	number = strtoull(found, &end, 10);
	end += strspn(end, " ");
	if (strncmp(end, "KiB", 3) == 0)
		return number << 10;
	return strncmp(end, "MiB", 3) == 0 ? number << 20 : number;
}

bool tool_client_parse(const char *text, struct tool_client *client)
{
	char driver[16];

	get_text(text, "drm-driver", driver, sizeof(driver));
	if (strcmp(driver, DRIVER) != 0 || !find_key(text, "drm-client-id"))
		return false;
	client->id = get_number(text, "drm-client-id");
	client->busy_ns = get_number(text, "drm-engine-npu");
	client->memory = get_number(text, "drm-total-memory");
	client->resident = get_number(text, "drm-resident-memory");
	client->cbuf = get_number(text, "drm-total-cbuf");
	client->pinned = get_number(text, DRIVER "-pinned-memory");
	client->tasks = get_number(text, DRIVER "-tasks");
	client->banks = (uint32_t)get_number(text, DRIVER "-reserved-banks");
	client->jobs = (uint32_t)get_number(text, DRIVER "-queued-jobs");
	get_text(text, DRIVER "-priority", client->priority, sizeof(client->priority));
	return true;
}

/* ---- all processes ---- */

static bool is_number(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

/* The start of a small file, terminated; false: it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static bool is_known(const struct tool_clients *clients, const struct tool_client *client)
{
	size_t i;

	for (i = 0; i < clients->count; i++)
		if (clients->client[i].id == client->id &&
		    clients->client[i].device == client->device)
			return true;
	return false;
}

static int add(struct tool_clients *clients, const struct tool_client *client)
{
	struct tool_client *larger;

	if (is_known(clients, client))
		return 0;
	larger = reallocarray(clients->client, clients->count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	clients->client = larger;
	clients->client[clients->count++] = *client;
	return 0;
}

/* Is the file @link a node of the accel subsystem?  Then its number. */
static bool node_number(const char *link, uint32_t *number)
{
	char target[PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	if (strncmp(target, NODE, strlen(NODE)) != 0 || !is_number(target + strlen(NODE)))
		return false;
	*number = (uint32_t)strtoul(target + strlen(NODE), NULL, 10);
	return true;
}

static int look_at_file(const char *proc, const char *pid, const char *file,
			struct tool_clients *clients)
{
	struct tool_client client = { .pid = strtoll(pid, NULL, 10) };
	char path[PATH_MAX], text[4096];

	snprintf(path, sizeof(path), "%s/%s/fd/%s", proc, pid, file);
	if (!node_number(path, &client.device))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/fdinfo/%s", proc, pid, file);
	if (!read_text(path, text, sizeof(text)) || !tool_client_parse(text, &client))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/comm", proc, pid);
	if (read_text(path, text, sizeof(text)))
		snprintf(client.name, sizeof(client.name), "%.*s", (int)strcspn(text, "\n"), text);
	/* A process names itself as it likes, and who watches may be root. */
	tool_clean_text(client.name);
	return add(clients, &client);
}

static int look_at_process(const char *proc, const char *pid, struct tool_clients *clients)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *files;

	snprintf(path, sizeof(path), "%s/%s/fd", proc, pid);
	files = opendir(path);
	if (!files) {
		clients->unreadable += errno == EACCES || errno == EPERM;
		return 0;
	}
	while (!err && (entry = readdir(files)))
		if (is_number(entry->d_name))
			err = look_at_file(proc, pid, entry->d_name, clients);
	closedir(files);
	return err;
}

/* Processes come in the order of their numbers, so the first one that has a file counts. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	unsigned long x = strtoul((*a)->d_name, NULL, 10), y = strtoul((*b)->d_name, NULL, 10);

	return (x > y) - (x < y);
}

static int is_process(const struct dirent *entry)
{
	return is_number(entry->d_name);
}

static int by_client(const void *a, const void *b)
{
	const struct tool_client *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

int tool_clients_read(const char *proc, struct tool_clients *clients)
{
	struct dirent **process;
	int count, i, err = 0;

	*clients = (struct tool_clients){ 0 };
	count = scandir(proc, &process, is_process, by_number);
	if (count < 0)
		return -errno;
	for (i = 0; i < count; i++) {
		if (!err)
			err = look_at_process(proc, process[i]->d_name, clients);
		free(process[i]);
	}
	free(process);
	if (err)
		tool_clients_free(clients);
	else if (clients->count)
		qsort(clients->client, clients->count, sizeof(*clients->client), by_client);
	return err;
}

void tool_clients_free(struct tool_clients *clients)
{
	free(clients->client);
	*clients = (struct tool_clients){ 0 };
}
