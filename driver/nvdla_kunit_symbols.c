// SPDX-License-Identifier: GPL-2.0-only
/* What nvdla_kunit.ko tests of this module; nobody else may link it. */
#include <kunit/visibility.h>
#include <linux/export.h>

#include "nvdla_budget_rules.h"
#include "nvdla_cbuf.h"
#include "nvdla_config.h"
#include "nvdla_validate.h"

#define kunit_symbol EXPORT_SYMBOL_IF_KUNIT

kunit_symbol(nvdla_budget_state_available);
kunit_symbol(nvdla_budget_state_ceiling);
kunit_symbol(nvdla_budget_state_fresh);
kunit_symbol(nvdla_budget_state_reserve);
kunit_symbol(nvdla_budget_state_set_limit);
kunit_symbol(nvdla_budget_state_set_unusable);
kunit_symbol(nvdla_cbuf_data_banks);
kunit_symbol(nvdla_cbuf_feature_eps);
kunit_symbol(nvdla_cbuf_group_entries);
kunit_symbol(nvdla_cbuf_image_eps);
kunit_symbol(nvdla_cbuf_weight_bytes);
kunit_symbol(nvdla_chain_error_text);
kunit_symbol(nvdla_chain_validate);
kunit_symbol(nvdla_config_count);
kunit_symbol(nvdla_config_find);
kunit_symbol(nvdla_configs);
