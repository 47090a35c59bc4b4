/**
 * A request as it is made once more to an upstream that refused its reasoning: without any, and
 * without the signatures that the wire puts elsewhere. What is left is the prefix that the answer is
 * then made on.
 */
import type { Note } from '../../core/note.ts'
import { stripReasoning as itemWithout } from '../../core/reasoning/strip-reasoning.ts'
import { dropPreviouslyRejectedParameters } from '../../providers/request/drop-rejected-parameters.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { translateProviderNotes } from '../prompt/translate-provider-notes.ts'

/** `null` when there was nothing of the kind in it. */
export function prepareRetryWithoutReasoning(prepared: PreparedRequest): PreparedRequest | null {
  const { account, provider, prompt, originalPositions, clientRequest } = prepared
  const kept: (typeof prompt.items)[number][] = []
  const keptPlaces: (number | null)[] = []
  const notes: Note[] = []
  for (const [at, item] of prompt.items.entries()) {
    const plain = itemWithout(item, provider.wire)
    const place = originalPositions[at] ?? null
    if (plain !== null) {
      kept.push(plain)
      keptPlaces.push(place)
    }
    if (plain === item) continue
    const did = plain === null ? 'dropped' : 'changed'
    notes.push({ did, ...(place === null ? {} : { at: place }), ...NOTE })
  }
  if (notes.length === 0) return null
  const asked = { ...prompt, items: kept }
  const encoded = dropPreviouslyRejectedParameters(provider.encode(asked, account), prepared.notes)
  // What was noted on the body of the first request does not hold for this one.
  const lasting = prepared.notes.filter(({ by }) => by !== provider.wire)
  return {
    ...prepared,
    prompt: asked,
    encoded,
    originalPositions: keptPlaces,
    notes: [
      ...lasting,
      ...notes,
      ...translateProviderNotes(encoded.notes, keptPlaces, clientRequest.body),
    ],
    wasReasoningRejected: true,
  }
}

const NOTE = {
  why: 'reasoning-refused',
  detail:
    'The upstream refused the reasoning of this conversation, and was asked again without it.',
}
