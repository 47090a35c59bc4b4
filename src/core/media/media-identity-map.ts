/**
 * A map by identities of media, which may be megabytes long. The engine tells long texts of one length
 * apart only by comparing each with each other; here they are told apart by samples first, and what
 * the samples leave is compared in full.
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
    get: (identity) => find(identity, buckets.get(sampled(identity)))?.value,
    set(identity, value) {
      const key = sampled(identity)
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

/** The end of most formats holds a sum of all that is before it. */
function sampled(identity: string): string {
  const { length } = identity
  if (length <= 4 * SAMPLE) return identity
  const middle = Math.floor(length / 2)
  return `${length} ${identity.slice(middle, middle + SAMPLE)}${identity.slice(-2 * SAMPLE)}`
}

const SAMPLE = 64
