/**
 * What of a model's reasoning this client is shown.
 *
 * Raw reasoning is shown as a summary by default, because the events for raw reasoning are the one
 * place in which OpenAI's SDK and the Open Responses specification exclude each other, and both
 * understand a summary. `include: ["reasoning.raw"]` asks for `reasoning_text` instead.
 *
 * Sealed reasoning is shown to whoever asks for it with `reasoning.encrypted_content`, and to a
 * client whose answer is not kept, which has to bring it back itself.
 */
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'

export interface ReasoningVisibility {
  readonly rawReasoning: boolean
  readonly sealedReasoning: boolean
}

export function decideReasoningVisibility({
  clientRequest,
  stored,
}: AnswerContext): ReasoningVisibility {
  const { include } = clientRequest.params
  return {
    rawReasoning: include.includes('reasoning.raw'),
    sealedReasoning: !stored || include.includes('reasoning.encrypted_content'),
  }
}
