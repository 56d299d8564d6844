/**
 * What the sibling packages of this workspace share with core and users have no need of. It follows no semantic version.
 *
 * @packageDocumentation
 */

export { KeptBank } from "./backends/kept-bank.ts";
export { dotRow } from "./kernels/dot.ts";
export { naturalLog } from "./kernels/exponential.ts";
export { indexOfLargest } from "./kernels/measure.ts";
export { gatherRows, sourceOf } from "./kernels/rows.ts";
export { insert } from "./kernels/top.ts";
export { codesAmong, encodeLabels, encodeSets, isLabelSets, refuseOtherType, setsAmong } from "./matrix/labels.ts";
export { matchingMatrix, trainingMatrix } from "./matrix/matrix.ts";
export { array, bad, readClasses, vector } from "./model-file/stored/arrays.ts";
export { conformalOn } from "./models/conformal.ts";
export { type FeatureNames, namesAfter } from "./models/feature-names.ts";
export { checkParams, paramsAsJson, storedParams } from "./models/parameter.ts";
export { advance, optionsOf, partOfRun, turns, withBackend } from "./models/run.ts";
export { countFilters } from "./paper/allocate.ts";
export { drawBelow, drawWithoutReplacement, generatorOf } from "./random.ts";
