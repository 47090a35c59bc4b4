/** Log probabilities in OpenAI's shape, one entry for each token of a chunk. */
import type { Json } from '../../../core/json/json.ts'
import type { LogprobsResult, GeminiLogprob } from '../api-types.ts'

/** `null` where the chunk holds none. */
export function convertLogprobs(result: LogprobsResult | undefined): readonly Json[] | null {
  const chosen = result?.chosenCandidates
  if (!Array.isArray(chosen) || chosen.length === 0) return null
  return (chosen as readonly GeminiLogprob[]).map((token, at) => {
    const top = result?.topCandidates?.[at]?.candidates
    return { ...shaped(token), top_logprobs: Array.isArray(top) ? top.map(shaped) : [] }
  })
}

function shaped({ token = '', logProbability = 0 }: GeminiLogprob): {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
} {
  return { token, logprob: logProbability, bytes: [...new TextEncoder().encode(token)] }
}
