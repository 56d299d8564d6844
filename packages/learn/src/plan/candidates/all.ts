/** All candidates, in their order: the first that suits is what `fast` trains, and of equals the earlier one is taken. */

import type { Candidate } from "./candidate.ts";
import { columnsBesideFilters, columnsThroughFilters } from "./columns-filters.ts";
import { columnsFine, columnsLinear, columnsStraight } from "./columns-linear.ts";
import { columnsCoarsePairs, columnsPairs } from "./columns-pairs.ts";
import { columnsCommittee, columnsSingle, columnsVotes } from "./columns-votes.ts";
import { images } from "./images.ts";
import { filtersAlone } from "./no-labels.ts";
import { numbersBesideFilters, numbersCommittee, numbersLinear, numbersPlain } from "./numbers.ts";
import { labelPlanes, labelShares } from "./several-labels.ts";
import {
  sparseLinear,
  sparseLogarithms,
  sparseLogLinear,
  sparseMany,
  sparseRanked,
  sparseRankedMany,
  sparseRankedSome,
  sparseScaledLinear,
  sparseShares,
  sparseSingle,
  sparseSome,
} from "./sparse.ts";
import {
  textBlend,
  textBoth,
  textCharacters,
  textFilters,
  textGiven,
  textPairs,
  textTokens,
  textWords,
} from "./text.ts";

export const CANDIDATES: readonly Candidate[] = [
  images,
  filtersAlone,
  labelShares,
  labelPlanes,
  textFilters,
  textGiven,
  textWords,
  textBlend,
  textPairs,
  textTokens,
  textCharacters,
  textBoth,
  columnsStraight,
  columnsLinear,
  columnsFine,
  columnsPairs,
  columnsCoarsePairs,
  columnsBesideFilters,
  columnsThroughFilters,
  columnsCommittee,
  columnsVotes,
  columnsSingle,
  numbersCommittee,
  numbersPlain,
  numbersLinear,
  numbersBesideFilters,
  sparseSingle,
  sparseSome,
  sparseMany,
  sparseRanked,
  sparseRankedSome,
  sparseRankedMany,
  sparseLogarithms,
  sparseLinear,
  sparseLogLinear,
  sparseScaledLinear,
  sparseShares,
];
