/**
 * Decides which forms of reasoning a client gets.
 *
 * Raw reasoning is rendered as a summary by default. The events for raw reasoning differ between
 * OpenAI's SDK and the Open Responses specification, but both accept a summary. If the client
 * requests `include: ["reasoning.raw"]`, raw reasoning is rendered as `reasoning_text`.
 *
 * Encrypted reasoning is included if the client requests `reasoning.encrypted_content`, and if the
 * answer is not stored, because the client then has to send the reasoning back itself.
 */
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

export interface ReasoningVisibility {
  /** False if raw reasoning is rendered as a summary. */
  readonly rawReasoning: boolean
  /** False if `encrypted_content` is left out. */
  readonly sealedReasoning: boolean
}

export function decideReasoningVisibility({
  clientRequest,
  isStored,
}: AnswerContext): ReasoningVisibility {
  const { include } = clientRequest.params
  return {
    rawReasoning: include.includes('reasoning.raw'),
    sealedReasoning: !isStored || include.includes('reasoning.encrypted_content'),
  }
}
