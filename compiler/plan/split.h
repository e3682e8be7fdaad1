/* SPDX-License-Identifier: MIT */
/*
 * The split of one convolution (one channel block of it) into passes that fit
 * the convolution buffer.  Partial sums never leave the accumulator, so what can
 * be chosen is how rows, columns and kernels are cut, in which order the pieces
 * run and what stays in the buffer between them: few enough to look at all.
 */
#ifndef NPU_PLAN_SPLIT_H
#define NPU_PLAN_SPLIT_H

#include "../plan.h"
#include "axis.h"

/**
 * struct npu_conv_shape - all that the split of a convolution depends on
 * @rows, @cols: geometry, pooling on the fly included.  Where @row_step is not 1, @rows counts
 *               the lines that are fetched
 * @taps_y, @taps_x: kernel height and width
 * @c, @k: channels and kernels of a block; of pixels @c has the kernel's columns folded in, @taps_x is
 *         1, and pieces have whole lines
 * @row_step: every how many-th row of the value is a line; see struct npu_task
 * @pooled: PDP runs on the fly
 * @table_bytes: operand tables of SDP, bytes for one kernel
 * @aligned: weights of every block start at a multiple of what CDMA asks for at a time
 * @pixel_bytes, @uv_bytes: of a pixel in its two planes; 0: features
 * @pixel_pads: padding of both sides, which lies in the buffer with each line of pixels
 * @elements: operands of SDP that are read for each element of the convolution's output
 * @ew: the slower EW is in use
 * @cut, @cut_count: rows of the output in front of which a piece has to end, ascending
 * @band, @band_count: of the input: no pass fetches lines of two of them
 * @span_groups: no pass has kernel groups on both sides of a multiple of this
 */
struct npu_conv_shape {
	struct npu_axis rows, cols;
	u32 taps_y, taps_x;
	u32 c, k;
	u32 row_step;
	u32 pooled;
	u32 table_bytes;
	u32 elements;
	u32 ew;
	u32 aligned;
	u32 pixel_bytes, uv_bytes;
	u32 pixel_pads;
	const u32 *cut;
	u32 cut_count;
	const struct npu_band *band;
	u32 band_count;
	u32 span_groups;
};

/* Entries that a line of @width input columns takes, and bytes that are read for it. */
u32 npu_split_line_entries(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			   u32 width);
u64 npu_split_line_bytes(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			 u32 width);

enum npu_split_mode {
	NPU_SPLIT_RESIDENT, /* all weights stay in the buffer from the first piece to the last */
	NPU_SPLIT_STREAM, /* weights pass by once for every piece, group by group */
	NPU_SPLIT_RANGES, /* a range of kernels stays for a pass over all pieces; then the next one */
};

/* Columns of the output, cut into pieces of rows that need at most @lines input lines each. */
struct npu_tile {
	u32 x, cols;
	u32 lines;
};

/**
 * struct npu_split - a way to run the convolution
 * @range: kernel groups of a range (RANGES)
 * @pieces: boxes of the output
 * @tasks: passes
 * @bytes: of DRAM, for one channel block
 * @bound_bytes: of the cheapest split with all banks of the configuration
 * @considered: legal splits that were compared
 * @effort: splits, tiles and passes that the search looked at: what its time goes with
 */
struct npu_split {
	enum npu_split_mode mode;
	u32 data_banks, weight_banks;
	u32 range;
	struct npu_tile *tile;
	u32 tile_count;
	u32 pieces;
	u32 tasks;
	u64 bytes;
	u64 bound_bytes;
	u32 considered;
	u64 effort;
};

/* Room for the search; grows as needed, reused from layer to layer. */
struct npu_split_space;

struct npu_split_space *npu_split_space_new(void);
void npu_split_space_free(struct npu_split_space *space);

/**
 * npu_conv_shape() - a convolution layer as the split sees it
 * @pooled: with its pooling on the fly
 *
 * Return: 0, -EINVAL where windows and sizes do not agree or a register is too narrow.
 */
int npu_conv_shape(const struct npu_net *net, const struct npu_layer *layer, bool pooled,
		   struct npu_conv_shape *shape);

/**
 * npu_split_search() - the split with the least DRAM traffic, then the fewest passes
 * @banks: of the buffer that may be used
 * @bound_bytes: what an earlier search for this shape found; 0: to be found
 * @split: its tiles are good until the next search in @space
 *
 * Splits for fewer banks are among those for more, so traffic never rises with the budget.
 *
 * Return: 0, -ENOSPC where no split is legal, -EFBIG where pieces of memory leave none, -ENOMEM.
 */
int npu_split_search(struct npu_split_space *space, const struct nvdla_config *config,
		     const struct npu_conv_shape *shape, u32 banks, u64 bound_bytes,
		     struct npu_split *split);

/* Banks below which no split is legal: one kernel group and the lines of one output. */
u32 npu_split_least_banks(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			  u32 *data_banks, u32 *weight_banks);

/* Why a convolution that npu_split_fits() refuses goes to the CPU. */
#define NPU_SPLIT_TOO_LARGE \
	"the whole buffer cannot hold one group of its kernels and the lines of one output"

/* Has the configuration's whole buffer room for the least piece of a convolution? */
bool npu_split_fits(const struct npu_net *net, const struct npu_layer *layer);

/* First row of the piece of a tile that ends at output row @to: pieces are cut from the bottom up. */
u32 npu_split_piece(const struct npu_conv_shape *shape, const struct npu_tile *tile, u32 to);

/* SDP cannot write 1 x 1 tiles of a larger plane for more than one surface. */
bool npu_split_is_single(const struct npu_conv_shape *shape, u32 rows, u32 cols);

/* Kernel groups of the shape, and kernels and weight bytes of @groups of them from @first on. */
u32 npu_split_groups(const struct nvdla_config *config, const struct npu_conv_shape *shape);
u32 npu_split_kernels(const struct nvdla_config *config, const struct npu_conv_shape *shape,
		      u32 first, u32 groups);
/* Entries that the weight banks must hold, wherever a range of kernels starts. */
u32 npu_split_group_entries(const struct nvdla_config *config, const struct npu_conv_shape *shape);
u64 npu_split_weight_bytes(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			   u32 first, u32 groups);

#endif /* NPU_PLAN_SPLIT_H */
