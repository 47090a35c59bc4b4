/** Encodes a planned request for its upstream's API, and adds the encoder's notes to those of the plan. */
import type { PlannedRequest, PreparedRequest } from './planned-request.ts'
import {
  dropNotesAboutAddedParameters,
  translateProviderNotes,
} from './translate-provider-notes.ts'

export function encodePlannedRequest(plan: PlannedRequest): PreparedRequest {
  const { clientRequest, account, provider, prompt, addedParameters, originalPositions, notes } =
    plan
  const encoded = provider.encode(prompt, account)
  const ownNotes = dropNotesAboutAddedParameters(encoded.notes, addedParameters)
  const encoderNotes = translateProviderNotes(ownNotes, originalPositions, clientRequest.body)
  return { ...plan, encoded, notes: [...notes, ...encoderNotes] }
}
