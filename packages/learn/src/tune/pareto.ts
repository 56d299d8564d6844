/** The Pareto front: what is beaten by nothing else in everything at once. */

/** Whether each point is on the front: no other is at least as small in every coordinate and smaller in one. */
export function paretoFront(points: readonly (readonly number[])[]): boolean[] {
  return points.map((point) => !points.some((other) => dominates(other, point)));
}

function dominates(a: readonly number[], b: readonly number[]): boolean {
  return a.every((value, i) => value <= b[i]) && a.some((value, i) => value < b[i]);
}
