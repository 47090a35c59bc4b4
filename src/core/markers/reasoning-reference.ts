/**
 * References of turns beside visible reasoning, as entries of a chat message's `reasoning_details`. Open WebUI stores
 * these and sends them back unchanged, as long as the user keeps the thought and the model. There is one entry for each
 * thought, in a format of the gateway's own, e.g.
 * `{"type":"reasoning.encrypted","data":"01KQZ3V8M6T2X9R4B7C9.0","format":"backstory-v1","index":1000}`.
 * No model is ever sent such an entry.
 */
import { readGatewayFields, setGatewayFields } from '../items/gateway-fields.ts'
import type { Item } from '../item.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { patchObject } from '../json/patch-object.ts'

export interface ReasoningReference {
  readonly turnId: string
  /** The index of the reasoning item in the turn's output. */
  readonly itemIndex: number
}

const FORMAT = 'backstory-v1'

/** Open WebUI merges entries with the same index, so these differ from the indexes of upstreams, which begin with 0. */
const FIRST_INDEX = 1000

export function createReasoningDetail({ turnId, itemIndex }: ReasoningReference): JsonObject {
  return {
    type: 'reasoning.encrypted',
    data: formatReference({ turnId, itemIndex }),
    format: FORMAT,
    index: FIRST_INDEX + itemIndex,
  }
}

function isReasoningReference(detail: Json): boolean {
  return isObject(detail) && detail['format'] === FORMAT
}

/** Returns the references among a message's `reasoning_details`. Leaves out damaged ones. */
export function parseReasoningReferences(details: Json | undefined): readonly ReasoningReference[] {
  if (!Array.isArray(details)) return []
  return (details as readonly Json[]).flatMap((detail) =>
    isObject(detail) && isReasoningReference(detail) ? (parseReference(detail['data']) ?? []) : [],
  )
}

/** Returns the details without references; the same list if there are none. */
export function removeReasoningReferences(details: readonly Json[]): readonly Json[] {
  return details.some(isReasoningReference)
    ? details.filter((detail) => !isReasoningReference(detail))
    : details
}

/** Returns a message or item of a client without references; the same object if it has none. */
export function removeReferencesOfEntry(entry: JsonObject): JsonObject {
  const { reasoning_details: details } = entry
  if (!Array.isArray(details)) return entry
  const remaining = removeReasoningReferences(details)
  if (remaining === details) return entry
  return patchObject(entry, { reasoning_details: remaining.length === 0 ? undefined : remaining })
}

/** Sets the references that a client has sent with a message, on the first item of that message. */
export function setReasoningReferences(
  item: Item,
  references: readonly ReasoningReference[],
): Item {
  return setGatewayFields(item, { references: references.map(formatReference) })
}

export function readReasoningReferences(item: Item): readonly ReasoningReference[] {
  const references = readGatewayFields(item)?.['references']
  return Array.isArray(references)
    ? (references as readonly Json[]).flatMap((reference) => parseReference(reference) ?? [])
    : []
}

/**
 * Marks stored reasoning as named by a reference, which Open WebUI sends back as long as the user keeps the thought and
 * asks the same model.
 */
export function markReferencedReasoning<Kind extends Item>(
  item: Kind,
  requestedModel: string,
): Kind {
  return item.type === 'reasoning'
    ? setGatewayFields(item, { referencedFor: requestedModel })
    : item
}

/** Removes the mark of reasoning whose reference the client has not received, because its turn was stored too late. */
export function unmarkReferencedReasoning(item: Item): Item {
  return readGatewayFields(item)?.['referencedFor'] === undefined
    ? item
    : setGatewayFields(item, { referencedFor: null })
}

/** True if a client that asks this model sends the reference of the stored reasoning back. */
export function isReferenceExpected(item: Item, requestedModel: string): boolean {
  return readGatewayFields(item)?.['referencedFor'] === requestedModel
}

function formatReference({ turnId, itemIndex }: ReasoningReference): string {
  return `${turnId}.${itemIndex}`
}

function parseReference(text: Json | undefined): ReasoningReference | null {
  const [, turnId, itemIndex] = REFERENCE.exec(typeof text === 'string' ? text : '') ?? []
  return turnId === undefined ? null : { turnId, itemIndex: Number(itemIndex) }
}

const REFERENCE = /^([0-9A-HJKMNP-TV-Z]{20})\.(\d{1,6})$/
