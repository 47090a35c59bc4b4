/**
 * Decides whether and how much the model thinks, and changes parameters that conflict with
 * thinking. For example, thinking is not possible with a forced tool call, and `max_tokens` must be
 * higher than the thinking budget.
 *
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import type { EncodedToolChoice } from './encode-tools.ts'
import type { EncodingContext } from './encoding-context.ts'
import { groupByRole } from './remove-rejected-blocks.ts'
import type { ModelTraits } from '../model-traits.ts'
import { isThinking, type BlockEntry } from '../api-types.ts'

export interface ThinkingPlan {
  readonly isOn: boolean
  readonly thinking: JsonObject | null
  readonly effort: string | null
  readonly maxTokens: number
  readonly toolChoice: EncodedToolChoice | null
}

export function planThinking(
  params: PromptParameters,
  requestedChoice: EncodedToolChoice | null,
  entries: readonly BlockEntry[],
  context: EncodingContext,
): ThinkingPlan {
  const { traits, notes } = context
  const choice = resolveToolChoice(requestedChoice, context)
  const maxTokens = limitMaxTokens(params, context)
  const { effort } = params
  const wantsThinking = effort === null ? traits.thinksByDefault : !isEffortOff(effort)
  if (traits.thinkingMode === 'none') {
    const isIgnored = wantsThinking && effort !== null
    if (isIgnored) notes.write('effort-unsupported', { field: 'reasoning.effort' })
    return { isOn: false, thinking: null, effort: null, maxTokens, toolChoice: choice }
  }
  const obstacle = wantsThinking ? findObstacle(choice, entries, traits) : null
  if (obstacle !== null) notes.write(obstacle, { field: 'reasoning.effort' })
  const isOn =
    (wantsThinking && obstacle === null) ||
    (traits.thinkingMode === 'adaptive' && traits.thinkingOffType === null)
  if (!isOn) {
    const isExplicit = traits.thinksByDefault || effort !== null
    const thinking =
      isExplicit && traits.thinkingOffType !== null ? { type: traits.thinkingOffType } : null
    return { isOn, thinking, effort: null, maxTokens, toolChoice: choice }
  }
  if (traits.thinkingMode === 'budget') {
    const budgetFields = planBudget(effort, maxTokens, params, context)
    return { isOn, effort: null, toolChoice: choice, ...budgetFields }
  }
  // `summarized` requests the text of the thinking, which the API leaves out by default.
  const thinking = { type: 'adaptive', display: 'summarized' }
  return { isOn, thinking, effort: chooseEffort(effort, context), maxTokens, toolChoice: choice }
}

function isEffortOff(effort: string | null): boolean {
  return effort === 'none' || effort === 'minimal'
}

function resolveToolChoice(
  choice: EncodedToolChoice | null,
  { traits, notes }: EncodingContext,
): EncodedToolChoice | null {
  if (choice === null || traits.forcedToolCalls !== 'never' || !isForced(choice)) return choice
  notes.write('forced-tool-unsupported', { field: 'tool_choice' })
  const { name: _name, ...rest } = choice
  return { ...rest, type: 'auto' }
}

function isForced(choice: EncodedToolChoice | null): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function limitMaxTokens(
  { maxOutputTokens }: PromptParameters,
  { traits: { outputLimit, defaultMaxTokens }, notes }: EncodingContext,
) {
  const limit = maxOutputTokens ?? defaultMaxTokens
  if (outputLimit === null || limit <= outputLimit) return limit
  notes.write('max-tokens-lowered', { field: 'max_output_tokens' })
  return outputLimit
}

function findObstacle(
  choice: EncodedToolChoice | null,
  entries: readonly BlockEntry[],
  traits: ModelTraits,
) {
  if (isForced(choice) && traits.forcedToolCalls === 'without-thinking')
    return 'thinking-with-forced-tool'
  return lacksInitialThinking(findOpenToolLoop(entries), traits) ? 'thinking-missing-in-loop' : null
}

/**
 * Returns the entries of the open tool loop, i.e. of an answer that is not finished: all entries
 * after the user's last message, if the last message is the assistant's or contains tool results.
 * If thinking has a token budget, the API requires that the loop begins with thinking, or that
 * thinking is off.
 */
export function findOpenToolLoop(entries: readonly BlockEntry[]): readonly BlockEntry[] {
  const groups = groupByRole(entries)
  const last = groups.at(-1)
  const isOpen = last?.[0]?.role === 'assistant' || last?.some(isToolResult) === true
  if (!isOpen) return []
  const lastUserIndex = groups.slice(0, -1).findLastIndex((group) => {
    return group[0]?.role === 'user' && !group.every(isToolResult)
  })
  return groups.slice(lastUserIndex + 1).flat()
}

function isToolResult({ block }: BlockEntry): boolean {
  return block['type'] === 'tool_result'
}

export function lacksInitialThinking(
  [first]: readonly BlockEntry[],
  { thinkingMode }: ModelTraits,
): boolean {
  return thinkingMode === 'budget' && first !== undefined && !isThinking(first.block)
}

const BUDGETS: Readonly<Record<string, number>> = { low: 2048, medium: 8192, high: 16_384 }
const MAX_BUDGET = 24_576
const MIN_BUDGET = 1024

/**
 * Computes the thinking budget, and a `max_tokens` that is higher than it. If the client's limit is
 * higher than the budget, `max_tokens` is this limit and includes the thinking, as with OpenAI.
 * Otherwise `max_tokens` is the sum of both, but at most the model's output limit.
 */
function planBudget(
  effort: string | null,
  limit: number,
  { maxOutputTokens }: PromptParameters,
  { traits: { outputLimit }, notes }: EncodingContext,
): Pick<ThinkingPlan, 'thinking' | 'maxTokens'> {
  const budget = BUDGETS[effort ?? 'medium'] ?? MAX_BUDGET
  if (limit > budget) return { thinking: enableThinking(budget), maxTokens: limit }
  const maxTokens = Math.min(budget + limit, outputLimit ?? Infinity)
  if (maxOutputTokens !== null) notes.write('max-tokens-raised', { field: 'max_output_tokens' })
  return { thinking: enableThinking(Math.min(budget, maxTokens - 1)), maxTokens }
}

function enableThinking(budget: number): JsonObject {
  return { type: 'enabled', budget_tokens: Math.max(budget, MIN_BUDGET) }
}

function chooseEffort(effort: string | null, { traits, notes }: EncodingContext): string | null {
  if (effort === null || traits.acceptedEfforts.includes(effort)) return effort
  if (isEffortOff(effort)) {
    notes.write('thinking-always-on', { field: 'reasoning.effort' })
    return 'low'
  }
  notes.write('effort-lowered', { field: 'reasoning.effort', detail: effort })
  return 'high'
}
