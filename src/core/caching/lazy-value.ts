/** Returns a function that computes its value on the first call and returns the same value afterwards. */
export function createLazyValue<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | null = null
  return () => (computed ??= { value: compute() }).value
}
