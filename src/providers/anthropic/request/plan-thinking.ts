/**
 * Whether the model thinks, how much, and what has to give way: thinking excludes a forced tool call
 * and sampling, its budget counts as output, and some models cannot stop.
 *
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { EncodedToolChoice } from './encode-tools.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { groupByRole } from './remove-rejected-blocks.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isThinking, type BlockEntry } from '../api-types.ts'

export interface ThinkingPlan {
  readonly isOn: boolean
  readonly thinking: JsonObject | null
  readonly effort: string | null
  readonly maxTokens: number
  readonly choice: EncodedToolChoice | null
}

export function planThinking(
  params: PromptParameters,
  asked: EncodedToolChoice | null,
  entries: readonly BlockEntry[],
  traits: ModelTraits,
  notebook: NoteCollector,
): ThinkingPlan {
  const choice = lawfulChoice(asked, traits, notebook)
  const maxTokens = limitOf(params, traits, notebook)
  const { effort } = params
  const wanted = effort === null ? traits.thinksUnasked : !isNone(effort)
  if (traits.thinking === 'none') {
    if (wanted && effort !== null) {
      notebook.write('effort-unsupported', { field: 'reasoning.effort' })
    }
    return { isOn: false, thinking: null, effort: null, maxTokens, choice }
  }
  const obstacle = wanted ? obstacleOf(choice, entries, traits) : null
  if (obstacle !== null) notebook.write(obstacle, { field: 'reasoning.effort' })
  const isOn =
    (wanted && obstacle === null) || (traits.thinking === 'adaptive' && traits.off === null)
  if (!isOn) {
    const isSaid = traits.thinksUnasked || effort !== null
    const thinking = isSaid && traits.off !== null ? { type: traits.off } : null
    return { isOn, thinking, effort: null, maxTokens, choice }
  }
  if (traits.thinking === 'budget') {
    return { isOn, effort: null, choice, ...budgeted(effort, maxTokens, params, traits, notebook) }
  }
  // The text of the thinking is left out of the answer unless it is asked for.
  const thinking = { type: 'adaptive', display: 'summarized' }
  return { isOn, thinking, effort: effortOf(effort, traits, notebook), maxTokens, choice }
}

function isNone(effort: string | null): boolean {
  return effort === 'none' || effort === 'minimal'
}

function lawfulChoice(
  choice: EncodedToolChoice | null,
  traits: ModelTraits,
  notebook: NoteCollector,
): EncodedToolChoice | null {
  if (choice === null || traits.forcedTools !== 'never' || !isForced(choice)) return choice
  notebook.write('forced-tool-unsupported', { field: 'tool_choice' })
  const { name: _name, ...rest } = choice
  return { ...rest, type: 'auto' }
}

function isForced(choice: EncodedToolChoice | null): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function limitOf(
  { maxOutputTokens }: PromptParameters,
  { ceiling, maxTokens }: ModelTraits,
  notebook: NoteCollector,
) {
  const limit = maxOutputTokens ?? maxTokens
  if (ceiling === null || limit <= ceiling) return limit
  notebook.write('max-tokens-lowered', { field: 'max_output_tokens' })
  return ceiling
}

function obstacleOf(
  choice: EncodedToolChoice | null,
  entries: readonly BlockEntry[],
  traits: ModelTraits,
) {
  if (isForced(choice) && traits.forcedTools === 'without-thinking')
    return 'thinking-with-forced-tool'
  return lacksInitialThinking(findOpenToolLoop(entries), traits) ? 'thinking-missing-in-loop' : null
}

/**
 * The running turn: what the model said since the user last spoke. It is open while the newest
 * message holds tool results or is the model's own. Where thinking has a budget, an open turn must
 * have begun with thinking.
 */
export function findOpenToolLoop(entries: readonly BlockEntry[]): readonly BlockEntry[] {
  const runs = groupByRole(entries)
  const last = runs.at(-1)
  const isOpen = last?.[0]?.role === 'assistant' || last?.some(isResult) === true
  if (!isOpen) return []
  const spoken = runs.slice(0, -1).findLastIndex((run) => {
    return run[0]?.role === 'user' && !run.every(isResult)
  })
  return runs.slice(spoken + 1).flat()
}

function isResult({ block }: BlockEntry): boolean {
  return block['type'] === 'tool_result'
}

export function lacksInitialThinking(
  [first]: readonly BlockEntry[],
  { thinking }: ModelTraits,
): boolean {
  return thinking === 'budget' && first !== undefined && !isThinking(first.block)
}

const BUDGETS: Readonly<Record<string, number>> = { low: 2048, medium: 8192, high: 16_384 }
const LARGEST_BUDGET = 24_576
const SMALLEST_BUDGET = 1024

/** A limit above the budget includes it, as with OpenAI; one below is meant for the answer alone. */
function budgeted(
  effort: string | null,
  limit: number,
  { maxOutputTokens }: PromptParameters,
  { ceiling }: ModelTraits,
  notebook: NoteCollector,
): Pick<ThinkingPlan, 'thinking' | 'maxTokens'> {
  const budget = BUDGETS[effort ?? 'medium'] ?? LARGEST_BUDGET
  if (limit > budget) return { thinking: enabled(budget), maxTokens: limit }
  const maxTokens = Math.min(budget + limit, ceiling ?? Infinity)
  if (maxOutputTokens !== null) {
    notebook.write('max-tokens-raised', { field: 'max_output_tokens' })
  }
  return { thinking: enabled(Math.min(budget, maxTokens - 1)), maxTokens }
}

function enabled(budget: number): JsonObject {
  return { type: 'enabled', budget_tokens: Math.max(budget, SMALLEST_BUDGET) }
}

function effortOf(
  effort: string | null,
  { efforts }: ModelTraits,
  notebook: NoteCollector,
): string | null {
  if (effort === null) return null
  if (efforts.includes(effort)) return effort
  if (isNone(effort)) {
    notebook.write('thinking-always-on', { field: 'reasoning.effort' })
    return 'low'
  }
  notebook.write('effort-lowered', { field: 'reasoning.effort', detail: effort })
  return 'high'
}
