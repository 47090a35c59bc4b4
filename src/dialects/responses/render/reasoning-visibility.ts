/**
 * Decides which forms of reasoning a client gets.
 *
 * Raw reasoning is rendered as a summary by default. The events for raw reasoning differ between
 * OpenAI's SDK and the Open Responses specification, but both accept a summary. If the client
 * requests `include: ["reasoning.raw"]`, raw reasoning is rendered as `reasoning_text`.
 *
 * Encrypted reasoning is included in two cases: if the client requests
 * `reasoning.encrypted_content`, or if the answer is not stored, because the client then has to
 * send the reasoning back itself.
 */
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

export interface ReasoningVisibility {
  /** False if raw reasoning is rendered as a summary. */
  readonly showsRawReasoning: boolean
  /** False if `encrypted_content` is left out. */
  readonly showsEncryptedReasoning: boolean
}

export function decideReasoningVisibility(answerContext: AnswerContext): ReasoningVisibility {
  const { include } = answerContext.clientRequest.params
  return {
    showsRawReasoning: include.includes('reasoning.raw'),
    showsEncryptedReasoning:
      !answerContext.isStored || include.includes('reasoning.encrypted_content'),
  }
}
