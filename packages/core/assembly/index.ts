/** What the module exports: kernels, called as `kernel(from, to, scratch, context)`, and small queries with arguments of their own. */

export { compact_table } from "./dense/compact";
export { find_directions, scratch_directions } from "./dense/directions";
export { scratch_full, top_filters_full, top_rows_full } from "./dense/full";
export { measure_panels, pack_panels, scratch_panels, top_filters_panels } from "./dense/panels";
export { first_answers, nearest_places, pack_filters, scratch_pruned, top_filters_pruned } from "./dense/prune";
export { bound_rows, finish_filters, largest_fact, project_filters, scratch_bounds } from "./dense/project";
export { top_rows_pruned } from "./dense/prune-rows";
export { add_sums, rank_sums, scratch_sums } from "./dense/rank-sums";
export { compare_listed, move_prototypes, scratch_compare } from "./dense/refine";
export { centre_weights, measure_filters, measure_rows, scratch_measure, spread_rows } from "./dense/rows";
export { scratch_direct_csr, top_filters_direct_csr, top_rows_direct_csr, write_out_csr } from "./sparse/direct";
export { largest_weight_csr } from "./sparse/dot";
export { clear_index_csr, fill_index_csr, plan_index_csr } from "./sparse/inverted-index";
export { join_pieces_csr, top_rows_csr } from "./sparse/pieces";
export { compare_listed_csr, move_prototypes_csr, scratch_compare_csr, scratch_move_csr } from "./sparse/refine";
export { measure_csr } from "./sparse/rows";
export { measure_panels, pack_panels, scratch_panels, top_filters_panels } from "./dense/panels";
export { first_answers_csr, scratch_index_csr, top_filters_csr } from "./sparse/search";
export { rank_sums_csr, scratch_sums_csr } from "./sparse/rank-sums";
export { pool_patches, scratch_patches } from "./dense/pool";
