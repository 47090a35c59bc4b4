/**
 * Encodes a prompt as a request to `POST /messages`. The request is valid for any list of items.
 * When the conversation continues, the earlier messages stay the same except for cache breakpoints,
 * so that the API can reuse its cache.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { createJsonBudget } from '../../../core/json/limited-json.ts'
import { countLeadingInstructions } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { addCacheBreakpoints } from './add-cache-breakpoints.ts'
import { encodeCompactionSettings } from './encode-compaction-settings.ts'
import { fixFirstAndLastMessage, fixEndsAndJoinSections } from './fix-first-and-last-message.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeParts, createTextBlock } from './encode-parts.ts'
import { encodeTools, addStubsIfNoTools } from './encode-tools.ts'
import { NOTES, type AnthropicNotes } from '../encoding-notes.ts'
import { encodeParameters, planStopSequences } from './encode-parameters.ts'
import { groupByRole, removeRejectedBlocks } from './remove-rejected-blocks.ts'
import { encodeStructuredOutput } from './encode-structured-output.ts'
import { planThinking } from './plan-thinking.ts'
import { getModelTraits } from '../model-traits.ts'
import {
  isBlankText,
  type ContentBlock,
  type BlockEntry,
  type AnthropicMessage,
} from '../api-types.ts'
import { createNoteCollector } from '../../note-collector.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const { items, params, stream } = prompt
  const traits = getModelTraits(params.model, account.quirks)
  const notes = createNoteCollector('anthropic', NOTES)
  const context = { traits, notes, jsonBudget: createJsonBudget() }
  const output = encodeStructuredOutput(params, context)
  const requested = encodeTools(params, output.tool, context)
  const start = countLeadingInstructions(items)
  const sections = removeRejectedBlocks(encodeMessages(items, start, context), notes)
  const hasFormat = output.format !== null
  // The plan for thinking depends on the messages, and their ends depend on the plan. So the plan
  // is made from the messages as they are with thinking, and the notes about these messages are
  // discarded.
  const unusedNotes = createNoteCollector('anthropic', NOTES)
  const thinkingOptions = { isThinkingOn: true, hasFormat, traits }
  const thinkingEntries = fixEndsAndJoinSections(sections, thinkingOptions, unusedNotes)
  const plan = planThinking(params, requested.choice, thinkingEntries, context)
  const { isOn: isThinkingOn, thinking, effort, maxTokens } = plan
  const entries = fixFirstAndLastMessage(sections, { isThinkingOn, hasFormat, traits }, notes)
  const offered = addStubsIfNoTools({ ...requested, choice: plan.toolChoice }, entries, notes)
  const { tools, system, messages } = addCacheBreakpoints(
    {
      tools: offered.tools,
      system: encodeSystemPrompt(
        items.slice(0, start),
        params.instructions,
        output.instruction,
        notes,
      ),
      messages: groupMessages(entries),
    },
    traits.cacheControl,
  )
  const stops = planStopSequences(params)
  const { fields, headers } = encodeCompactionSettings(entries, prompt.compactAbove, account, notes)
  const outputConfig = {
    ...(effort === null ? {} : { effort }),
    ...(output.format === null ? {} : { format: output.format }),
  }
  const body: JsonObject = {
    model: params.model,
    max_tokens: maxTokens,
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(offered.choice === null ? {} : { tool_choice: { ...offered.choice } }),
    messages: messages.map((message) => ({ ...message })),
    ...(thinking === null ? {} : { thinking }),
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
    ...encodeParameters(params, stops, isThinkingOn, context),
    ...fields,
    ...(stream ? { stream } : {}),
  }
  return {
    path: '/messages',
    body,
    notes: notes.notes,
    unsentStopSequences: stops.unsent,
    ...(headers === null ? {} : { headers }),
  }
}

/** Encodes the system prompt. Leaves out media, because the API accepts only text in it. */
function encodeSystemPrompt(
  leading: readonly Item[],
  instructions: string | null,
  formatInstruction: string | null,
  notes: AnthropicNotes,
): readonly ContentBlock[] {
  const blocks = leading.flatMap((item, itemIndex) => {
    if (item.type !== 'message') return []
    return encodeParts(item.content, itemIndex, notes).filter(({ type }) => {
      if (type !== 'text') notes.write('media-unsupported', { itemIndex })
      return type === 'text'
    })
  })
  return [
    createTextBlock(instructions ?? ''),
    ...blocks,
    createTextBlock(formatInstruction ?? ''),
  ].filter((block) => !isBlankText(block))
}

function groupMessages(entries: readonly BlockEntry[]): readonly AnthropicMessage[] {
  return groupByRole(entries).flatMap((group): AnthropicMessage[] => {
    const role = group[0]?.role
    return role === undefined ? [] : [{ role, content: group.map(({ block }) => block) }]
  })
}
