/**
 * What is said of a whole message and of none of its items: fields that its upstream wants back, and
 * details that come behind the reasoning they are of, whose item is final by then. It stands with
 * the next item that ends.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { addReasoningDetail } from './merge-reasoning-details.ts'

export interface NativeFields {
  readonly field: (name: string, value: JsonObject) => void
  readonly lateDetail: (piece: JsonObject) => void
  /** What has been said since it was taken last; `undefined` for nothing. */
  readonly taken: () => JsonObject | undefined
}

export function collectNativeFields(): NativeFields {
  let fields: Record<string, JsonObject> | null = null
  let late: JsonObject[] = []
  return {
    field(name, value) {
      fields ??= {}
      fields[name] = value
    },
    lateDetail: (piece) => addReasoningDetail(late, piece),
    taken() {
      if (fields === null && late.length === 0) return undefined
      const native = late.length === 0 ? { ...fields } : { ...fields, reasoning_details: late }
      fields = null
      late = []
      return native
    },
  }
}
