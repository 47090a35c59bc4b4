/**
 * Adds gateway tools, e.g. `expand_output`, to the tools of a request, and adapts its `tool_choice`. They
 * come after the client's tools, always in the same order, because a changed order would invalidate the
 * prompt cache of the provider.
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

const GATEWAY_TOOLS: readonly GatewayTool[] = [
  expandOutputTool,
  viewMediaTool,
  updateWorkingMemoryTool,
  rememberFactTool,
  forgetFactTool,
]

export interface ToolOffer {
  readonly tools: readonly GatewayTool[]
  /** The client's parameters with the offered gateway tools; the client's own object if none is offered. */
  readonly params: PromptParameters
  /** The policy, with the notices switched off that would mention a tool that is not offered. */
  readonly policy: ContextPolicy
  readonly notes: readonly Note[]
}

export function offerTools(context: ToolOfferContext): ToolOffer {
  const offer = chooseTools(context)
  return { ...offer, policy: restrictPolicy(offer.tools, context.policy) }
}

function chooseTools(context: ToolOfferContext): Omit<ToolOffer, 'policy'> {
  const { clientParams, isTask, policy } = context
  const wanted = isTask ? NO_TOOLS : GATEWAY_TOOLS.filter((tool) => tool.isOffered(context))
  if (wanted.length === 0 || !acceptsGatewayTools(clientParams))
    return { tools: NO_TOOLS, params: clientParams, notes: NO_NOTES }
  const clientNames = new Set(clientParams.tools.map((tool) => ('name' in tool ? tool.name : '')))
  const tools = wanted.filter(({ tool }) => !clientNames.has(tool.name))
  const notes = wanted.map(({ tool: { name } }) => createNote(name, clientNames.has(name)))
  if (tools.length === 0) return { tools, params: clientParams, notes }
  const names = tools.map(({ tool }) => tool.name)
  return {
    tools,
    params: {
      ...clientParams,
      tools: [...clientParams.tools, ...tools.map((tool) => createDefinition(tool, policy))],
      toolChoice: extendToolChoice(clientParams.toolChoice, names),
    },
    notes,
  }
}

function createDefinition(
  { tool, extendDescription }: GatewayTool,
  policy: ContextPolicy,
): FunctionTool {
  const extension = extendDescription?.(policy) ?? ''
  return extension === '' ? tool : { ...tool, description: `${tool.description} ${extension}` }
}

function restrictPolicy(tools: readonly GatewayTool[], policy: ContextPolicy): ContextPolicy {
  const { outputs, media } = policy
  const expand = outputs.expand && tools.includes(expandOutputTool)
  const view = media.view && tools.includes(viewMediaTool)
  if (expand === outputs.expand && view === media.view) return policy
  return { ...policy, outputs: { ...outputs, expand }, media: { ...media, view } }
}

const NO_TOOLS: readonly GatewayTool[] = []
const NO_NOTES: readonly Note[] = []

/**
 * True if gateway tools can be added to the request. They cannot if several answers are requested (`n: 2`),
 * because such answers cannot be continued. Two kinds of requests accept them only if the client has tools
 * itself: those for JSON output, which some upstreams do not support with tools, and those that require a
 * tool call, because without client tools that is a mistake of the client.
 */
function acceptsGatewayTools({ tools, toolChoice, format, extra }: PromptParameters): boolean {
  if ((extra['n'] ?? 1) !== 1) return false
  if (tools.length > 0) return true
  const isText = format === null || format.type === 'text'
  return isText && (toolChoice === null || toolChoice.type === 'auto' || toolChoice.type === 'none')
}

/**
 * Adds the gateway tools to the client's list of allowed tools, if there is one. Without this, the model
 * could not call them.
 */
function extendToolChoice(choice: ToolChoice | null, names: readonly string[]): ToolChoice | null {
  return choice?.type === 'allowed' ? { ...choice, names: [...choice.names, ...names] } : choice
}

function createNote(name: string, isTaken: boolean): Note {
  return {
    did: isTaken ? 'changed' : 'added',
    field: 'tools',
    why: isTaken ? 'house-tool-withheld' : 'house-tool-offered',
    by: 'house-tools',
    detail: isTaken
      ? `The request has a tool of its own that is called ${name}.`
      : `The model is offered ${name}, which the gateway answers.`,
  }
}
