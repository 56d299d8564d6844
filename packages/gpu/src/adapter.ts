/**
 * Where a GPU comes from: the page's own (`navigator.gpu`), or in Node the optional package `webgpu`, which is loaded here and
 * nowhere else.
 */

import { RanksimError } from "@ranksim/core";

/** What is asked of an adapter beyond the least that WebGPU promises, where it has it. */
const FEATURES = ["subgroups", "chromium-experimental-subgroup-matrix"];
const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
] as const;

/**
 * For the package `webgpu`. Without the first, subgroup matrices are hidden. The second leaves out the check of every index, which takes a
 * third of the time of products: all programs are of this module, and stay within their buffers by their parameters, which
 * come from sizes and never from values.
 */
const DAWN_FLAGS = ["enable-dawn-features=allow_unsafe_apis,disable_robustness"];

/** A product of small matrices that a subgroup computes at once. Not yet in the types of the DOM. */
interface MatrixShape {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** A device as it was given out. */
export interface OpenedDevice {
  readonly device: GPUDevice;
  /** Name of the adapter for people. */
  readonly adapter: string;
  /** Whether it is a program that plays a GPU. */
  readonly isSoftware: boolean;
  /** Language features of its shaders. */
  readonly language: ReadonlySet<string>;
  readonly matrices: readonly MatrixShape[];
  /** Threads of a subgroup; 0 where it may vary. */
  readonly subgroup: number;
  /** What must stay referenced for as long as the device is used: a collected instance takes the process with it. */
  readonly instance: object;
}

/** Opens the fastest GPU there is here. Refuses by code "no-backend" where there is none, saying what would help. */
export async function openDevice(): Promise<OpenedDevice> {
  const gpu = await findGpu();
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw refusal("found no adapter: a driver for Vulkan, Metal or Direct3D 12 is needed");
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name)) as GPUFeatureName[];
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits }).catch((error: unknown) => {
    throw refusal(`the adapter gave no device: ${messageOf(error)}`);
  });
  const info = adapter.info as GPUAdapterInfo & { readonly subgroupMatrixConfigs?: Iterable<MatrixShape> };
  return {
    device,
    adapter: [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(" "),
    isSoftware: info.isFallbackAdapter === true,
    language: gpu.wgslLanguageFeatures ?? new Set<string>(),
    matrices: requiredFeatures.includes(FEATURES[1] as GPUFeatureName) ? [...(info.subgroupMatrixConfigs ?? [])] : [],
    subgroup: info.subgroupMinSize === info.subgroupMaxSize ? info.subgroupMinSize : 0,
    instance: gpu,
  };
}

interface Host {
  readonly navigator?: { readonly gpu?: GPU };
  readonly process?: {
    readonly versions?: { readonly node?: string };
    readonly env?: { readonly [name: string]: string };
  };
}

async function findGpu(): Promise<GPU> {
  const { navigator, process } = globalThis as unknown as Host;
  if (navigator?.gpu) return navigator.gpu;
  if (!process?.versions?.node) throw refusal("found a browser without WebGPU");
  const name = process.env?.RANKSIM_WEBGPU ?? "webgpu";
  try {
    const { create } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as {
      create(flags: readonly string[]): GPU;
    };
    return create(DAWN_FLAGS);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_MODULE_NOT_FOUND") {
      throw refusal(`found no package ${name}: npm install webgpu`);
    }
    throw refusal(`the package ${name} did not load: ${messageOf(error)}`);
  }
}

function refusal(found: string): RanksimError {
  return new RanksimError("no-backend", `gpu: expected WebGPU, ${found}`);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
