/**
 * Runs the gateway tool calls of a tool round. Each call gets an output. If a tool fails or takes more than 10
 * seconds, its output is a text that says so, and the answer continues.
 */
import { createGatewayToolOutput } from '../../core/items/gateway-tool-items.ts'
import type { FunctionCall, FunctionCallOutput } from '../../core/item.ts'
import { tryParseLimitedJsonObject } from '../../core/json/limited-json.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/async/wait-with-timeout.ts'
import type { ToolAnswer, ToolRunContext, GatewayTool } from './gateway-tool-interface.ts'

export function runToolCalls(
  calls: readonly FunctionCall[],
  tools: readonly GatewayTool[],
  context: ToolRunContext,
): Promise<readonly FunctionCallOutput[]> {
  return Promise.all(
    calls.map(async (call) =>
      createGatewayToolOutput(call.call_id, await runToolCall(call, tools, context)),
    ),
  )
}

/**
 * Creates outputs for calls that are not run, because no tool round follows in which the model could read a
 * result.
 */
export function skipToolCalls(calls: readonly FunctionCall[]): readonly FunctionCallOutput[] {
  return calls.map(({ call_id: callId }) => createGatewayToolOutput(callId, SKIPPED_OUTPUT))
}

const SKIPPED_OUTPUT = 'The tool was not run, because the answer ended with this call.'

async function runToolCall(
  { name, arguments: text }: FunctionCall,
  tools: readonly GatewayTool[],
  context: ToolRunContext,
): Promise<ToolAnswer> {
  const tool = tools.find((one) => one.tool.name === name)
  // Some models send an empty text instead of `{}` for a call without arguments.
  const args = text.trim() === '' ? {} : tryParseLimitedJsonObject(text)
  if (tool === undefined) return `There is no tool ${name}.`
  if (args === null) return 'The arguments are not a JSON object.'
  try {
    const answer = await waitWithTimeout(Promise.resolve(tool.run(args, context)), TOOL_TIMEOUT_MS)
    if (answer === TIMED_OUT) return 'The tool took too long.'
    return answer.length === 0 ? 'There is nothing.' : answer
  } catch (error) {
    context.ports.log('warn', 'house-tool-failed', { tool: name, why: errorMessage(error) })
    return 'The tool failed.'
  }
}

const TOOL_TIMEOUT_MS = 10_000
