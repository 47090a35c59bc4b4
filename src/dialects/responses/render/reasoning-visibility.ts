/**
 * Decides which forms of reasoning a client gets.
 *
 * A summary that the upstream made is included if the client requests it with `reasoning.summary`, as
 * at OpenAI, and for clients that keep only text, which cannot request it.
 *
 * An upstream that sends its reasoning as plain text has nothing else, so this raw reasoning is always
 * included, by default as a summary: the events for raw reasoning differ between OpenAI's SDK and the
 * Open Responses specification, but both accept a summary. If the client requests
 * `include: ["reasoning.raw"]`, raw reasoning is rendered as `reasoning_text`.
 *
 * Encrypted reasoning is included in two cases: if the client requests
 * `reasoning.encrypted_content`, or if the answer is not stored, because the client then has to
 * send the reasoning back itself.
 */
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import type { Json } from '../../../core/json/json.ts'

export interface ReasoningVisibility {
  /** False if summaries that the upstream made are left out. */
  readonly showsSummary: boolean
  /** False if raw reasoning is rendered as a summary. */
  readonly showsRawReasoning: boolean
  /** False if `encrypted_content` is left out. */
  readonly showsEncryptedReasoning: boolean
}

export function decideReasoningVisibility(answerContext: AnswerContext): ReasoningVisibility {
  const { params, client } = answerContext.clientRequest
  const { include } = params
  const showsEncryptedReasoning =
    !answerContext.isStored || include.includes('reasoning.encrypted_content')
  return {
    // Encrypted reasoning is shown with its text: if a client sent it back without the text, it
    // would count as edited.
    showsSummary:
      isSummaryRequested(params.reasoningSummary) ||
      showsEncryptedReasoning ||
      client.isOpenWebUi ||
      client.receivesMarkers,
    showsRawReasoning: include.includes('reasoning.raw'),
    showsEncryptedReasoning,
  }
}

/** `summary`: the field `reasoning.summary` of a request. */
export function isSummaryRequested(summary: Json): boolean {
  return summary !== null && summary !== 'none'
}
