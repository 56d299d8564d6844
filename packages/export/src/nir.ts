/** @packageDocumentation Rank similarity filters as NIR graphs. Needs the package h5wasm. */

export { exportNir, type NirOptions } from "./nir/export.ts";
