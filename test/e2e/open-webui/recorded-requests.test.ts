/** Requests that a real Open WebUI has sent, in front of models with every wire. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { pythonJson } from '../../support/open-webui/python-json.ts'
import { MARKER } from '../../support/open-webui/watch.ts'
import { serviceTown } from '../../support/services/service-town.ts'
import { readShared, sharedExists } from '../../support/shared.ts'

interface Recorded {
  readonly kind: string
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: JsonObject | null
}

const recorded: readonly Recorded[] = sharedExists
  ? readShared('fixtures/open-webui/requests.jsonl')
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Recorded)
  : []

describe.skipIf(!sharedExists)('recorded requests', () => {
  const town = serviceTown({ TRUST_USER_HEADERS: 'on' })

  const models = ['gpt-5', 'claude-opus-5', 'gemini-3.8-flash', 'chat-one', 'strict-one', 'a/b']
  const each = recorded.flatMap((request) =>
    request.body === null
      ? [{ ...request, model: 'no model' }]
      : models.map((model) => ({ ...request, model })),
  )
  test.each(each)('$kind, $model', async ({ method, path, headers, body, model }) => {
    town.services.received.length = 0
    town.services.refusals.length = 0
    // What somebody has set for an upstream of theirs goes to any, and these know nothing of it.
    const { x_gateway: _own, ...known } = body ?? {}
    const asked = body === null ? null : { ...known, model }
    const response = await fetch(town.gateway.url + path, {
      method,
      headers: headers.filter(([name]) => name !== 'Host').map(ours),
      ...(asked === null ? {} : { body: pythonJson(asked) }),
    })
    const text = await response.text()
    expect({ status: response.status, refusals: town.services.refusals, text }).toMatchObject({
      status: 200,
      refusals: [],
    })
    for (const { json } of town.services.received) expect(JSON.stringify(json)).not.toMatch(MARKER)
  })
})

/** The names on the left of a connection's headers are free, and these are ours. */
function ours([name, value]: readonly [string, string]): [string, string] {
  return [name.replace(/^X-Gw-/, 'X-Backstory-'), value.replace('<api-key>', 'any')]
}
