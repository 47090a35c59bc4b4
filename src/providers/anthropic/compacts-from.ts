/**
 * Who compacts what it is sent, and from how many tokens on: Anthropic itself, with its newer models,
 * and what else with this wire is said to. The API takes no lower threshold.
 *
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold
 */
import type { Account } from '../provider-interface.ts'
import { describeModel } from './model-traits.ts'

export function getCompactionThreshold({ baseUrl, quirks }: Account, model: string): number | null {
  const { compact } = quirks
  const isAble = typeof compact === 'boolean' ? compact : baseUrl.startsWith(OWN_HOST)
  return isAble && describeModel(model, quirks).compacts ? LEAST_TRIGGER : null
}

const OWN_HOST = 'https://api.anthropic.com/'
const LEAST_TRIGGER = 50_000
