// SPDX-License-Identifier: MIT
#include "axis.h"

u32 npu_window_outputs(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride)
{
	u64 padded = (u64)in + before + after, span;

	if (!kernel || !stride)
		return 0;
	span = npu_dilated(kernel, dilation);
	return padded < span ? 0 : (u32)((padded - span) / stride + 1);
}

static u32 first_conv(const struct npu_axis *a, u32 from)
{
	s64 first = (s64)from * a->pool_stride - a->pool_pad;

	return first > 0 ? (u32)first : 0;
}

static u32 end_conv(const struct npu_axis *a, u32 to)
{
	s64 end = (s64)(to - 1) * a->pool_stride - a->pool_pad + a->pool_kernel;

	return (u32)max(min(end, (s64)a->conv), (s64)0);
}

u32 npu_axis_first(const struct npu_axis *a, u32 from)
{
	s64 first = (s64)first_conv(a, from) * a->stride - a->pad;

	return (u32)min(max(first, (s64)0), (s64)a->in);
}

/* Input lines end here, padding included: may lie behind the input. */
static s64 padded_end(const struct npu_axis *a, u32 to)
{
	return ((s64)end_conv(a, to) - 1) * a->stride - a->pad + a->kernel;
}

u32 npu_axis_end(const struct npu_axis *a, u32 to)
{
	return (u32)min(max(padded_end(a, to), (s64)0), (s64)a->in);
}

struct npu_piece npu_axis_piece(const struct npu_axis *a, u32 from, u32 to)
{
	s64 pool = (s64)from * a->pool_stride - a->pool_pad;
	s64 pool_end = (s64)(to - 1) * a->pool_stride - a->pool_pad + a->pool_kernel;
	struct npu_piece p = { .out = from, .outs = to - from };
	s64 start;

	p.conv = first_conv(a, from);
	p.convs = end_conv(a, to) - p.conv;
	p.pool_before = (u32)(p.conv - pool);
	p.pool_after = (u32)(pool_end - (p.conv + (s64)p.convs));
	start = (s64)p.conv * a->stride - a->pad;
	p.in = npu_axis_first(a, from);
	p.ins = npu_axis_end(a, to) - p.in;
	p.before = (u32)(p.in - start);
	p.after = (u32)(padded_end(a, to) - npu_axis_end(a, to));
	return p;
}

u32 npu_axis_reach(const struct npu_axis *a, u32 from, u32 lines)
{
	u64 limit = (u64)npu_axis_first(a, from) + lines;
	s64 step = (s64)a->stride * a->pool_stride;
	s64 offset = (s64)a->pool_pad * a->stride + a->pad;
	s64 span = (s64)(a->pool_kernel - 1) * a->stride + a->kernel;
	s64 room = (s64)limit + offset - span, to;

	if (limit >= npu_axis_end(a, a->out))
		return a->out;
	if (room < 0)
		return from;
	to = room / step + 1;
	return (u32)max((s64)from, min(to, (s64)a->out));
}

u32 npu_axis_reach_back(const struct npu_axis *a, u32 to, u32 lines)
{
	s64 step = (s64)a->stride * a->pool_stride;
	s64 offset = (s64)a->pool_pad * a->stride + a->pad;
	s64 limit = (s64)npu_axis_end(a, to) - lines, from;

	if (limit <= npu_axis_first(a, 0))
		return 0;
	from = DIV_ROUND_UP(limit + offset, step);
	return (u32)min(from, (s64)to);
}

/* The first output behind which all input lines that any output needs have been fetched. */
static u32 complete_at(const struct npu_axis *a)
{
	u32 end = npu_axis_end(a, a->out), to = a->out;

	while (to > 1 && npu_axis_end(a, to - 1) == end)
		to--;
	return to;
}

u32 npu_axis_cut(const struct npu_axis *a, u32 line, bool halo)
{
	u32 start = npu_axis_first(a, 0), at, complete;

	if (line >= npu_axis_end(a, a->out))
		return a->out;
	if (line <= start)
		return 0;
	at = npu_axis_reach(a, 0, line - start);
	if (!at || npu_axis_first(a, at) >= line)
		return at;
	/* The pieces share lines: those in front of @line stay, if any other one is released. */
	if (!halo || npu_axis_end(a, at) != line ||
	    npu_axis_first(a, at) == npu_axis_first(a, at - 1))
		return 0;
	/* A last piece that needs no new line fetches all of its lines again. */
	complete = complete_at(a);
	return complete == a->out || npu_axis_first(a, complete) >= line ? at : 0;
}

u32 npu_axis_least(const struct npu_axis *a)
{
	u32 least = 0, i;

	for (i = 0; i < a->out; i++)
		least = max(least, npu_axis_end(a, i + 1) - npu_axis_first(a, i));
	return least;
}

u32 npu_axis_needed(const struct npu_axis *a)
{
	u32 i, lines = 0, end = 0;

	for (i = 0; i < a->out; i++) {
		u32 next = npu_axis_end(a, i + 1);

		lines += next - min(next, max(end, npu_axis_first(a, i)));
		end = max(end, next);
	}
	return lines;
}

bool npu_axis_sound(const struct npu_axis *a)
{
	if (!a->in || !a->conv || !a->out || !a->kernel || !a->stride || !a->pool_kernel ||
	    !a->pool_stride)
		return false;
	/* Padding below the kernel leaves a line to the first output; the last one is checked. */
	if (a->pad >= a->kernel || a->pool_pad >= a->pool_kernel)
		return false;
	if ((s64)(a->conv - 1) * a->stride - a->pad >= a->in)
		return false;
	return (s64)(a->out - 1) * a->pool_stride - a->pool_pad < a->conv;
}
