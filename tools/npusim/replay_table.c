// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>

#include "replay_table.h"

/* Tasks below this are not counted in the errors' summary. */
#define SUMMARY_CYCLES 2000

void replay_table_clear(struct replay_table *table)
{
	free(table->row);
	memset(table, 0, sizeof(*table));
}

/* Which column is which, from the header line. */
struct columns {
	int name, dram, cycles, read, write;
};

static struct columns header(char *line)
{
	struct columns c = { -1, -1, -1, -1, -1 };
	char *save = NULL, *word = strtok_r(line, "\t\n", &save);
	int i;

	for (i = 0; word; i++, word = strtok_r(NULL, "\t\n", &save)) {
		if (!strcmp(word, "name") || !strcmp(word, "trace"))
			c.name = i;
		else if (!strcmp(word, "dram"))
			c.dram = i;
		else if (!strcmp(word, "cycles"))
			c.cycles = i;
		else if (!strcmp(word, "read_bytes"))
			c.read = i;
		else if (!strcmp(word, "write_bytes"))
			c.write = i;
	}
	return c;
}

static bool parse(char *line, const struct columns *c, struct replay_row *row)
{
	char *next = line, *word;
	int i;

	*row = (struct replay_row){ .cycles = -1, .read_bytes = -1, .write_bytes = -1 };
	for (i = 0; (word = strsep(&next, "\t\n")); i++) {
		if (i == c->name)
			snprintf(row->name, sizeof(row->name), "%s", word);
		else if (i == c->dram)
			snprintf(row->dram, sizeof(row->dram), "%s", word);
		else if (i == c->cycles)
			row->cycles = atoll(word);
		else if (i == c->read)
			row->read_bytes = atoll(word);
		else if (i == c->write)
			row->write_bytes = atoll(word);
	}
	return row->name[0];
}

static void load(struct replay_table *table, const char *path)
{
	struct columns c = { -1, -1, -1, -1, -1 };
	u32 capacity = 0;
	size_t size = 0;
	char *line = NULL;
	FILE *f = fopen(path, "r");

	replay_table_clear(table);
	snprintf(table->path, sizeof(table->path), "%s", path);
	if (!f)
		return;
	while (getline(&line, &size, f) >= 0) {
		if (line[0] == '#')
			continue;
		if (c.name < 0) {
			c = header(line);
			continue;
		}
		if (table->count == capacity) {
			struct replay_row *row;

			capacity = capacity ? capacity * 2 : 256;
			row = realloc(table->row, capacity * sizeof(*row));
			if (!row)
				break;
			table->row = row;
		}
		if (parse(line, &c, &table->row[table->count]))
			table->count++;
	}
	free(line);
	fclose(f);
}

static const struct replay_row *find_in(struct replay_table *table, const char *path,
					const char *name)
{
	u32 i;

	if (strcmp(table->path, path) != 0)
		load(table, path);
	for (i = 0; i < table->count; i++)
		if (strcmp(table->row[i].name, name) == 0)
			return &table->row[i];
	return NULL;
}

/* The path of a table beside the tests' directories: @name in the parent of @dir. */
static bool beside(char *path, size_t size, const char *dir, const char *name)
{
	size_t n = strlen(dir);
	int used;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	while (n > 0 && dir[n - 1] != '/')
		n--;
	used = n ? snprintf(path, size, "%.*s%s", (int)n, dir, name)
		 : snprintf(path, size, "%s/../%s", dir, name);
	return used > 0 && (size_t)used < size;
}

const struct replay_row *replay_table_find(struct replay_table *table, const char *dir,
					   const char *config, const char *name)
{
	const struct replay_row *row;
	char path[512], file[96];

	if (!beside(path, sizeof(path), dir, "META.tsv"))
		return NULL;
	row = find_in(table, path, name);
	if (row || table->count)
		return row;
	snprintf(file, sizeof(file), "../rtl-%s.tsv", config);
	return beside(path, sizeof(path), dir, file) ? find_in(table, path, name) : NULL;
}

void replay_table_timing(struct replay_table *table, const char *dir)
{
	char path[512];

	if (beside(path, sizeof(path), dir, "TIMING.tsv") && strcmp(table->path, path) != 0)
		load(table, path);
}

void replay_errors_clear(struct replay_errors *e)
{
	free(e->item);
	memset(e, 0, sizeof(*e));
}

void replay_errors_add(struct replay_errors *e, const char *config, double measured, double model)
{
	struct replay_error *item;

	if (e->count == e->capacity) {
		e->capacity = e->capacity ? e->capacity * 2 : 256;
		item = realloc(e->item, e->capacity * sizeof(*item));
		if (!item) {
			e->capacity = e->count;
			return;
		}
		e->item = item;
	}
	item = &e->item[e->count++];
	snprintf(item->config, sizeof(item->config), "%s", config);
	item->measured = measured;
	item->error = fabs(model - measured) / measured;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median and 90th percentile for one configuration, or for all (NULL). */
static void print_one(const struct replay_errors *e, const char *config, double at_least, FILE *out)
{
	double *v = malloc((e->count + 1) * sizeof(*v));
	u32 n = 0, i;

	if (!v)
		return;
	for (i = 0; i < e->count; i++)
		if (e->item[i].measured >= at_least &&
		    (!config || !strcmp(config, e->item[i].config)))
			v[n++] = e->item[i].error;
	if (n) {
		qsort(v, n, sizeof(*v), by_value);
		fprintf(out,
			"# timing %s, %u tasks of %g cycles and more: median %.1f %%, "
			"90th percentile %.1f %%, worst %.1f %%\n",
			config ? config : "all", n, at_least, 100 * v[n / 2], 100 * v[n * 9 / 10],
			100 * v[n - 1]);
	}
	free(v);
}

void replay_errors_print(const struct replay_errors *e, FILE *out)
{
	u32 i;

	for (i = 0; i < nvdla_config_count; i++)
		print_one(e, nvdla_configs[i].name, SUMMARY_CYCLES, out);
	print_one(e, NULL, SUMMARY_CYCLES, out);
	print_one(e, NULL, 0, out);
}
