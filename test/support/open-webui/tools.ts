/** The tools of the simulated Open WebUI and their outputs, which depend only on the arguments. */
import { tryParseJsonObject, type JsonObject } from '../../../src/core/json/json.ts'
import { pythonJson } from './python-json.ts'
import type { StoredCall, StoredOutput } from './stored-item.ts'

const TABLE: Readonly<Record<string, (args: JsonObject) => unknown>> = {
  look: ({ at }) => ({ at: at ?? null, seen: `fog over ${String(at)}, 4 °C` }),
  get_current_timestamp: () => ({ current_timestamp: 1_795_002_964 }),
}

export const TOOLS: readonly JsonObject[] = [
  tool('get_current_timestamp', 'Get the current Unix timestamp in seconds.', {}),
  tool('look', 'Look at a place.', { at: { type: 'string' } }),
]

export function runTool({ callId, name, args }: StoredCall): StoredOutput {
  return { type: 'function_call_output', callId, parts: [toolResult(name, args)] }
}

export function toolResult(name: string, args: string): string {
  const run = TABLE[name]
  if (run === undefined) return `Error: Tool "${name}" not found.`
  const input = tryParseJsonObject(args)
  return input === null ? 'Error: The arguments are not JSON.' : pythonJson(run(input))
}

function tool(name: string, description: string, properties: JsonObject): JsonObject {
  const parameters = { properties, type: 'object' }
  return { type: 'function', function: { name, description, parameters } }
}
