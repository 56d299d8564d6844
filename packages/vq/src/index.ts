/**
 * Vector quantisation with rank similarity filters: the rows most like others, maps of rows, codes for them.
 *
 * @packageDocumentation
 */

export { CODEC_PARAMETERS, type CodecParams, codecReader, RankCodec, RankCodecModel } from "./codes/rank-codec.ts";
export { MAP_PARAMETERS, type MapParams, mapReader, RankMap, RankMapModel } from "./map/rank-map.ts";
export {
  asCompared,
  type KeepOptions,
  KeptRowsModel,
  keepRows,
  keptRowsReader,
  type LabelledNeighbours,
} from "./neighbours/kept-rows.ts";
export {
  INDEX_PARAMETERS,
  type IndexParams,
  indexReader,
  RankIndex,
  RankIndexModel,
  type SearchOptions,
} from "./neighbours/rank-index.ts";
export { type Neighbours, SIMILARITIES, type Similarity } from "./neighbours/similarity.ts";
