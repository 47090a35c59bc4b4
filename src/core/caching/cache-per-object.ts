/** Returns a version of `compute` that caches one value per object; the value is freed together with the object. */
export function cachePerObject<Key extends object, Value extends object | string>(
  compute: (object: Key) => Value,
): (object: Key) => Value {
  const cache = new WeakMap<Key, Value>()
  return (object) => {
    const cached = cache.get(object)
    if (cached !== undefined) return cached
    const value = compute(object)
    cache.set(object, value)
    return value
  }
}
