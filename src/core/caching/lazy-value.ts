/** Makes a value when it is first asked for, and has it from then on. */
export function createLazyValue<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => (made ??= { value: make() }).value
}
