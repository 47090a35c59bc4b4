/**
 * Lists the context windows of well-known models in tokens. The first matching pattern applies. The
 * gateway uses them to plan prompts, but does not reject a prompt that is larger, because a
 * provider may have raised the window. Open models are missing, because each server sets its own
 * limit. The account's `contextWindow` and a policy's `budget.window` override this table.
 */
import { matchesModelPattern } from './accounts-and-model-routing.ts'

const MILLION = 1_000_000

const CONTEXT_WINDOWS: readonly (readonly [pattern: string, tokens: number])[] = [
  ['claude-3*', 200_000],
  ['claude-haiku-4*', 200_000],
  ['claude-*-4-6*', MILLION],
  ['claude-*-4.6*', MILLION],
  ['claude-*-4-7*', MILLION],
  ['claude-*-4.7*', MILLION],
  ['claude-*-4-8*', MILLION],
  ['claude-*-4.8*', MILLION],
  ['claude-*-4*', 200_000],
  ['claude-*-5*', MILLION],
  ['gpt-3.5-turbo*', 16_385],
  ['gpt-4.1*', 1_047_576],
  ['gpt-4o*', 128_000],
  ['gpt-4-turbo*', 128_000],
  ['gpt-4-1106*', 128_000],
  ['gpt-4', 8192],
  ['gpt-4-0613', 8192],
  ['gpt-5*-chat*', 128_000],
  ['gpt-5.4-mini*', 400_000],
  ['gpt-5.4-nano*', 400_000],
  ['gpt-5.4*', 1_050_000],
  ['gpt-5.5*', 1_050_000],
  ['gpt-5', 400_000],
  ['gpt-5-*', 400_000],
  ['gpt-5.1*', 400_000],
  ['gpt-5.2*', 400_000],
  ['gpt-5.3*', 400_000],
  ['o1*', 200_000],
  ['o3*', 200_000],
  ['o4-mini*', 200_000],
  ['gemini-1.5-pro*', 2_097_152],
  ['gemini-*', 1_048_576],
]

/**
 * Returns the context window of a model in tokens; null if it is unknown. A vendor prefix is ignored:
 * `openai/gpt-5` → `gpt-5`.
 */
export function findKnownContextWindow(model: string): number | null {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return CONTEXT_WINDOWS.find(([pattern]) => matchesModelPattern(pattern, name))?.[1] ?? null
}
