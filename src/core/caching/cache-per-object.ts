/** Makes a value when it is first asked for of an object, and has it for as long as there is that object. */
export function cachePerObject<Of extends object, Value extends object | string>(
  make: (of: Of) => Value,
): (of: Of) => Value {
  const made = new WeakMap<Of, Value>()
  return (of) => {
    const known = made.get(of)
    if (known !== undefined) return known
    const value = make(of)
    made.set(of, value)
    return value
  }
}
