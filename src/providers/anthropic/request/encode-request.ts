/**
 * A prompt as a request of the Messages API. What is sent obeys the wire's laws whatever the items
 * are, depends on nothing but the prompt and the account, and with one more turn only grows: earlier
 * messages stay the same, but for the marks of the cache.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { countLeadingInstructions } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { addCacheBreakpoints } from './cache-breakpoints.ts'
import { encodeContextManagement } from './encode-context-management.ts'
import { fixFirstAndLastMessage, fixFormerLastMessages } from './fix-first-and-last-message.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeParts, createTextBlock } from './encode-parts.ts'
import { encodeTools, addStubTools } from './encode-tools.ts'
import { createNoteCollector, type NoteCollector } from '../encoding-notes.ts'
import { encodeParameters, planStopSequences } from './encode-parameters.ts'
import { groupByRole, removeRejectedBlocks } from './remove-rejected-blocks.ts'
import { encodeStructuredOutput } from './choose-structured-output-method.ts'
import { planThinking } from './plan-thinking.ts'
import { describeModel } from '../model-traits.ts'
import {
  isBlankText,
  type ContentBlock,
  type BlockEntry,
  type AnthropicMessage,
} from '../api-types.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const { items, params, stream } = prompt
  const notebook = createNoteCollector()
  const traits = describeModel(params.model, account.quirks)
  const output = encodeStructuredOutput(params, traits, notebook)
  const asked = encodeTools(params, output.tool, traits, notebook)
  const start = countLeadingInstructions(items)
  const stretches = removeRejectedBlocks(encodeMessages(items, start, traits, notebook), notebook)
  const hasFormat = output.format !== null
  // Whether it may think depends on what it would be sent if it did.
  const thinker = { isThinkingOn: true, hasFormat, traits }
  const spoken = fixFormerLastMessages(stretches, thinker, createNoteCollector())
  const plan = planThinking(params, asked.choice, spoken, traits, notebook)
  const { isOn: isThinkingOn, thinking, effort, maxTokens } = plan
  const entries = fixFirstAndLastMessage(stretches, { isThinkingOn, hasFormat, traits }, notebook)
  const offered = addStubTools({ tools: asked.tools, choice: plan.choice }, entries, notebook)
  const { tools, system, messages } = addCacheBreakpoints(
    {
      tools: offered.tools,
      system: systemOf(items.slice(0, start), params.instructions, output.instruction, notebook),
      messages: messagesOf(entries),
    },
    traits.cacheControl,
  )
  const stops = planStopSequences(params)
  const managed = encodeContextManagement(entries, prompt.compactAbove, account, notebook)
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
    ...encodeParameters(params, stops, isThinkingOn, traits, notebook),
    ...managed.fields,
    ...(stream ? { stream } : {}),
  }
  const encoded = {
    path: '/messages',
    body,
    notes: notebook.notes,
    unsentStopSequences: stops.unsent,
  }
  return managed.headers === null ? encoded : { ...encoded, headers: managed.headers }
}

/** Instructions are text; anything else in them is left out. */
function systemOf(
  leading: readonly Item[],
  instructions: string | null,
  last: string | null,
  notebook: NoteCollector,
): readonly ContentBlock[] {
  const blocks = leading.flatMap((item, at) => {
    if (item.type !== 'message') return []
    return encodeParts(item.content, at, notebook).filter(({ type }) => {
      if (type !== 'text') notebook.write('media-unsupported', { at })
      return type === 'text'
    })
  })
  return [createTextBlock(instructions ?? ''), ...blocks, createTextBlock(last ?? '')].filter(
    (block) => !isBlankText(block),
  )
}

function messagesOf(entries: readonly BlockEntry[]): readonly AnthropicMessage[] {
  return groupByRole(entries).flatMap((run): AnthropicMessage[] => {
    const role = run[0]?.role
    return role === undefined ? [] : [{ role, content: run.map(({ block }) => block) }]
  })
}
