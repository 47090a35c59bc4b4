/** Converts log probabilities to OpenAI's format, with one entry for each token of a chunk. */
import type { Json } from '../../../core/json/json.ts'
import type { LogprobsResult, GeminiLogprob } from '../api-types.ts'

/** Converts the log probabilities of a chunk; returns `null` if it has none. */
export function convertLogprobs(result: LogprobsResult | undefined): readonly Json[] | null {
  const chosen = result?.chosenCandidates
  if (!Array.isArray(chosen) || chosen.length === 0) return null
  return (chosen as readonly GeminiLogprob[]).map((token, at) => {
    const top = result?.topCandidates?.[at]?.candidates
    return {
      ...convertLogprob(token),
      top_logprobs: Array.isArray(top) ? top.map(convertLogprob) : [],
    }
  })
}

function convertLogprob({ token = '', logProbability = 0 }: GeminiLogprob): {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
} {
  return { token, logprob: logProbability, bytes: [...new TextEncoder().encode(token)] }
}
