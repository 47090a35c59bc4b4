/**
 * A map whose keys are media identities, which may be megabytes of base64. A plain `Map` compares long keys
 * of equal length completely; this map compares samples of them first.
 */
import { sampleText } from './sample-media.ts'

export interface MapKeyedByMedia<Value> {
  readonly get: (identity: string) => Value | undefined
  readonly set: (identity: string, value: Value) => void
}

export function createMapKeyedByMedia<Value>(): MapKeyedByMedia<Value> {
  const buckets = new Map<string, Entry<Value>[]>()
  const find = (identity: string, bucket: readonly Entry<Value>[] | undefined) =>
    bucket?.find((entry) => entry.identity === identity)
  return {
    get: (identity) => find(identity, buckets.get(sampleText(identity)))?.value,
    set(identity, value) {
      const key = sampleText(identity)
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
