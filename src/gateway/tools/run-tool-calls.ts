/**
 * Answers the calls of the house in one answer. Every call gets its output, whatever becomes of the
 * tool: one that fails, or takes too long, says so to the model, and costs the answer nothing else.
 */
import { createGatewayToolOutput } from '../../core/items/gateway-tool-items.ts'
import type { FunctionCall, FunctionCallOutput } from '../../core/item.ts'
import { tryParseJsonObject } from '../../core/json/json.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import { waitWithTimeout, TIMED_OUT } from '../../core/wait-with-timeout.ts'
import type { ToolAnswer, ToolRunContext, GatewayTool } from './gateway-tool-interface.ts'

export function runToolCalls(
  calls: readonly FunctionCall[],
  tools: readonly GatewayTool[],
  context: ToolRunContext,
): Promise<readonly FunctionCallOutput[]> {
  return Promise.all(
    calls.map(async (call) =>
      createGatewayToolOutput(call.call_id, await answerTo(call, tools, context)),
    ),
  )
}

/** For calls that came when nothing was to follow any more. */
export function skipToolCalls(calls: readonly FunctionCall[]): readonly FunctionCallOutput[] {
  return calls.map(({ call_id: callId }) => createGatewayToolOutput(callId, CUT_OFF))
}

const CUT_OFF = 'The tool was not run, because the answer ended with this call.'

async function answerTo(
  { name, arguments: text }: FunctionCall,
  tools: readonly GatewayTool[],
  context: ToolRunContext,
): Promise<ToolAnswer> {
  const own = tools.find(({ tool }) => tool.name === name)
  // Some models leave the arguments out where they could.
  const given = text.trim() === '' ? {} : tryParseJsonObject(text)
  if (own === undefined) return `There is no tool ${name}.`
  if (given === null) return 'The arguments are not a JSON object.'
  try {
    const answer = await waitWithTimeout(Promise.resolve(own.run(given, context)), PATIENCE_MS)
    if (answer === TIMED_OUT) return 'The tool took too long.'
    return answer.length === 0 ? 'There is nothing.' : answer
  } catch (error) {
    context.ports.log('warn', 'house-tool-failed', { tool: name, why: errorMessage(error) })
    return 'The tool failed.'
  }
}

const PATIENCE_MS = 10_000
