/**
 * A prompt as a request of the Messages API. What is sent obeys the wire's laws whatever the items
 * are, depends on nothing but the prompt and the account, and with one more turn only grows: earlier
 * messages stay the same, but for the marks of the cache.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { instructionsLength } from '../../../core/items/leading-instructions.ts'
import type { Item } from '../../../core/item.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, Encoded } from '../../provider-interface.ts'
import { withBreakpoints } from './cache-breakpoints.ts'
import { contextManagement } from './encode-context-management.ts'
import { encodeEnds, withFormerEnds } from './fix-first-and-last-message.ts'
import { encodeItems } from './encode-messages.ts'
import { encodeParts, textBlock } from './encode-parts.ts'
import { encodeTools, withStubs } from './encode-tools.ts'
import { openNotebook, type Notebook } from '../encoding-notes.ts'
import { encodeParams, stopsFor } from './encode-parameters.ts'
import { runsOf, settle } from './remove-rejected-blocks.ts'
import { structuredOutput } from './choose-structured-output-method.ts'
import { planThinking } from './plan-thinking.ts'
import { traitsOf } from '../model-traits.ts'
import { isBlankText, type Block, type Entry, type WireMessage } from '../api-types.ts'

export function encode(prompt: Prompt, account: Account): Encoded {
  const { items, params, stream } = prompt
  const notebook = openNotebook()
  const traits = traitsOf(params.model, account.quirks)
  const output = structuredOutput(params, traits, notebook)
  const asked = encodeTools(params, output.tool, traits, notebook)
  const start = instructionsLength(items)
  const stretches = settle(encodeItems(items, start, traits, notebook), notebook)
  const hasFormat = output.format !== null
  // Whether it may think depends on what it would be sent if it did.
  const thinker = { isThinkingOn: true, hasFormat, traits }
  const spoken = withFormerEnds(stretches, thinker, openNotebook())
  const plan = planThinking(params, asked.choice, spoken, traits, notebook)
  const { isOn: isThinkingOn, thinking, effort, maxTokens } = plan
  const entries = encodeEnds(stretches, { isThinkingOn, hasFormat, traits }, notebook)
  const offered = withStubs({ tools: asked.tools, choice: plan.choice }, entries, notebook)
  const { tools, system, messages } = withBreakpoints(
    {
      tools: offered.tools,
      system: systemOf(items.slice(0, start), params.instructions, output.instruction, notebook),
      messages: messagesOf(entries),
    },
    traits.cacheControl,
  )
  const stops = stopsFor(params)
  const managed = contextManagement(entries, prompt.compactAbove, account, notebook)
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
    ...encodeParams(params, stops, isThinkingOn, traits, notebook),
    ...managed.fields,
    ...(stream ? { stream } : {}),
  }
  const encoded = { path: '/messages', body, notes: notebook.notes, unsentStops: stops.unsent }
  return managed.headers === null ? encoded : { ...encoded, headers: managed.headers }
}

/** Instructions are text; anything else in them is left out. */
function systemOf(
  leading: readonly Item[],
  instructions: string | null,
  last: string | null,
  notebook: Notebook,
): readonly Block[] {
  const blocks = leading.flatMap((item, at) => {
    if (item.type !== 'message') return []
    return encodeParts(item.content, at, notebook).filter(({ type }) => {
      if (type !== 'text') notebook.write('media-unsupported', { at })
      return type === 'text'
    })
  })
  return [textBlock(instructions ?? ''), ...blocks, textBlock(last ?? '')].filter(
    (block) => !isBlankText(block),
  )
}

function messagesOf(entries: readonly Entry[]): readonly WireMessage[] {
  return runsOf(entries).flatMap((run): WireMessage[] => {
    const role = run[0]?.role
    return role === undefined ? [] : [{ role, content: run.map(({ block }) => block) }]
  })
}
