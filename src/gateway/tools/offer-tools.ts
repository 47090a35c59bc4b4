/**
 * Which tools of the house a request offers, beside those of its client, and how its client's words
 * about tools are meant then.
 *
 * They come behind the client's own, in an order that never changes. A tool that is forbidden by
 * `tool_choice` stays in the list all the same, as those of the client do.
 */
import type { Note } from '../../core/note.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { FunctionTool, PromptParameters, ToolChoice } from '../../core/prompt.ts'
import { expandOutputTool } from './expand-output-tool.ts'
import { forgetFactTool } from './forget-fact-tool.ts'
import type { ToolOfferContext, GatewayTool } from './gateway-tool-interface.ts'
import { rememberFactTool } from './remember-fact-tool.ts'
import { updateWorkingMemoryTool } from './update-working-memory-tool.ts'
import { viewMediaTool } from './view-media-tool.ts'

const HOUSE_TOOLS: readonly GatewayTool[] = [
  expandOutputTool,
  viewMediaTool,
  updateWorkingMemoryTool,
  rememberFactTool,
  forgetFactTool,
]

export interface ToolOffer {
  readonly tools: readonly GatewayTool[]
  /** The very same, if nothing is offered. */
  readonly params: PromptParameters
  /** As it can be kept: what is not offered, the model is not told to use. The very same, if it is. */
  readonly policy: ContextPolicy
  readonly notes: readonly Note[]
}

export function offerTools(asking: ToolOfferContext): ToolOffer {
  const offered = offeredIn(asking)
  return { ...offered, policy: keptBy(offered.tools, asking.policy) }
}

function offeredIn(asking: ToolOfferContext): Omit<ToolOffer, 'policy'> {
  const { params, isTask } = asking
  const wanted = isTask ? NONE : HOUSE_TOOLS.filter((tool) => tool.isOffered(asking))
  if (wanted.length === 0 || !mayBeOffered(params)) return { tools: NONE, params, notes: NO_NOTES }
  const taken = new Set(params.tools.map((tool) => ('name' in tool ? tool.name : '')))
  const tools = wanted.filter(({ tool }) => !taken.has(tool.name))
  const notes = wanted.map(({ tool: { name } }) =>
    taken.has(name) ? withheld(name) : offered(name),
  )
  if (tools.length === 0) return { tools, params, notes }
  const names = tools.map(({ tool }) => tool.name)
  return {
    tools,
    params: {
      ...params,
      tools: [...params.tools, ...tools.map((one) => described(one, asking.policy))],
      toolChoice: choiceWith(params.toolChoice, names),
    },
    notes,
  }
}

function described({ tool, moreWords }: GatewayTool, policy: ContextPolicy): FunctionTool {
  const more = moreWords?.(policy) ?? ''
  return more === '' ? tool : { ...tool, description: `${tool.description} ${more}` }
}

function keptBy(tools: readonly GatewayTool[], policy: ContextPolicy): ContextPolicy {
  const { outputs, media } = policy
  const expand = outputs.expand && tools.includes(expandOutputTool)
  const view = media.view && tools.includes(viewMediaTool)
  if (expand === outputs.expand && view === media.view) return policy
  return { ...policy, outputs: { ...outputs, expand }, media: { ...media, view } }
}

const NONE: readonly GatewayTool[] = []
const NO_NOTES: readonly Note[] = []

/**
 * Of several answers at once none can be gone on with. Without tools of its own a client that wants JSON
 * might get none, because not every service takes both, and one that wants a call has made a mistake
 * that is better told.
 */
function mayBeOffered({ tools, toolChoice, format, extra }: PromptParameters): boolean {
  if ((extra['n'] ?? 1) !== 1) return false
  if (tools.length > 0) return true
  const isText = format === null || format.type === 'text'
  return isText && (toolChoice === null || toolChoice.type === 'auto' || toolChoice.type === 'none')
}

/** A choice among its tools is not meant to take away ours, of which the client knows nothing. */
function choiceWith(choice: ToolChoice | null, names: readonly string[]): ToolChoice | null {
  return choice?.type === 'allowed' ? { ...choice, names: [...choice.names, ...names] } : choice
}

function offered(name: string): Note {
  return {
    did: 'added',
    field: 'tools',
    why: 'house-tool-offered',
    by: 'house-tools',
    detail: `The model is offered ${name}, which the gateway answers.`,
  }
}

function withheld(name: string): Note {
  return {
    did: 'changed',
    field: 'tools',
    why: 'house-tool-withheld',
    by: 'house-tools',
    detail: `The request has a tool of its own that is called ${name}.`,
  }
}
