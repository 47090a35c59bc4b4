/**
 * A map whose keys are media identities, which may be megabytes long. A plain `Map` compares long keys
 * of equal length in full; this map compares samples of them first.
 */
export interface MediaIdentityMap<Value> {
  readonly get: (identity: string) => Value | undefined
  readonly set: (identity: string, value: Value) => void
}

export function createMediaIdentityMap<Value>(): MediaIdentityMap<Value> {
  const buckets = new Map<string, Entry<Value>[]>()
  const find = (identity: string, bucket: readonly Entry<Value>[] | undefined) =>
    bucket?.find((entry) => entry.identity === identity)
  return {
    get: (identity) => find(identity, buckets.get(sampleIdentity(identity)))?.value,
    set(identity, value) {
      const key = sampleIdentity(identity)
      const bucket = buckets.get(key)
      const known = find(identity, bucket)
      if (known !== undefined) known.value = value
      else if (bucket === undefined) buckets.set(key, [{ identity, value }])
      else bucket.push({ identity, value })
    },
  }
}

interface Entry<Value> {
  readonly identity: string
  value: Value
}

/** The samples include the end, where most formats store a checksum. */
function sampleIdentity(identity: string): string {
  const { length } = identity
  if (length <= 4 * SAMPLE_CHARS) return identity
  const middle = Math.floor(length / 2)
  return `${length} ${identity.slice(middle, middle + SAMPLE_CHARS)}${identity.slice(-2 * SAMPLE_CHARS)}`
}

const SAMPLE_CHARS = 64
