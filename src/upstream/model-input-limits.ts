/**
 * Finds the input limit of a well-known model: the maximum tokens of a request to it. The gateway plans prompts with
 * these limits, but does not reject a larger prompt, because a provider may have raised its limit. The account's
 * `contextWindow` and a policy's `budget.window` override them. Open models are known only at well-known hosts, because
 * each server sets its own limit.
 */
import { createLazyValue } from '../core/caching/lazy-value.ts'
import { KNOWN_INPUT_LIMITS } from './known-input-limits.ts'

export interface InputLimit {
  readonly tokens: number
  /**
   * True for a context window, which input and answer share: a longer answer leaves less room for the input. False for
   * a limit of the input alone: GPT-5 accepts 272,000 tokens of input, and its answer may have 128,000 more.
   */
  readonly includesAnswer: boolean
}

/** Returns `null` if the limit is unknown. */
export function findKnownInputLimit(model: string, baseUrl: string): InputLimit | null {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  const name = normalizeModelName(model)
  for (const [suffix, limits] of parseSectionsOnce()) {
    if (suffix !== '*' && host !== suffix && !host.endsWith(`.${suffix}`)) continue
    for (let prefix: string | null = name; prefix !== null; prefix = getParentName(prefix)) {
      const limit = limits.get(prefix)
      if (limit !== undefined) return limit
    }
  }
  return null
}

/**
 * Returns the name as it is in the table: in lower case, with dashes, and without a vendor or region. `openai/GPT-5.1` →
 * `gpt-5-1`, `us.anthropic.claude-opus-5-v1:0` → `claude-opus-5-v1-0`.
 */
export function normalizeModelName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^(?:[a-z-]+\.)?(?:anthropic|amazon)\./, '')
    .replaceAll(/[.:@]/g, '-')
}

/** Returns the name without its last part: `gpt-5-1` → `gpt-5`; `null` for a name of one part. */
export function getParentName(name: string): string | null {
  const end = name.lastIndexOf('-')
  return end < 0 ? null : name.slice(0, end)
}

type Section = readonly [hostSuffix: string, limits: ReadonlyMap<string, InputLimit>]

/** Sections of hosts come before the section of all hosts, because the limit of a host is more certain. */
const parseSectionsOnce = createLazyValue((): readonly Section[] =>
  KNOWN_INPUT_LIMITS.trim()
    .split(/^@/m)
    .slice(1)
    .map(parseSection)
    .toSorted(([a], [b]) => Number(a === '*') - Number(b === '*')),
)

/** Parses a host and lines such as `272000+ gpt-5 gpt-5-mini`. The `+` marks a limit of the input alone. */
function parseSection(text: string): Section {
  const [host = '', ...lines] = text.trim().split('\n')
  const limits = lines.flatMap((line) => {
    const [limit = '', ...names] = line.split(' ')
    const value = { tokens: Number.parseInt(limit, 10), includesAnswer: !limit.endsWith('+') }
    return names.map((name) => [name, value] as const)
  })
  return [host, new Map(limits)]
}
