/** Several processes that run the same program on the same data, and what they can do together. Every call is made by all of them, in the same order. */
export interface Collective {
  /** The number of this process, from 0, and how many there are. */
  readonly rank: number;
  readonly size: number;
  /** The sums over all processes. Exact for whole numbers below 2^53 alone: others depend on the order in which they are added. */
  sum(values: Float64Array): Promise<Float64Array>;
  /** The same sums, of which each process is given so many, in the order of their numbers: as many in all as there are. */
  sumShare(values: Float64Array, counts: readonly number[]): Promise<Float64Array>;
  /** What each process gave, in the order of their numbers; one part after the other in `room`, where that is large enough. */
  gather(part: Uint8Array, room?: Uint8Array): Promise<Uint8Array[]>;
  /** What the process `from` gave; the others' is not looked at. */
  broadcast(bytes: Uint8Array, from: number): Promise<Uint8Array>;
  /** Hands something to one process, which receives it; what is sent to a process arrives in order. */
  send(bytes: Uint8Array, to: number): Promise<void>;
  receive(from: number): Promise<Uint8Array>;
}
