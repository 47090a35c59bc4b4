/** Replays recorded requests of a real Open WebUI to models of every wire. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { pythonJson } from '../../support/open-webui/python-json.ts'
import { MARKER } from '../../support/open-webui/check-answer.ts'
import { useGatewayWithServices } from '../../support/services/gateway-with-services.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'

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

describe.skipIf(!sharedExists)('recorded requests of Open WebUI', () => {
  const setup = useGatewayWithServices({ TRUST_USER_HEADERS: 'on' })

  const models = ['gpt-5', 'claude-opus-5', 'gemini-3.8-flash', 'chat-one', 'strict-one', 'a/b']
  const each = recorded.flatMap((request) =>
    request.body === null
      ? [{ ...request, model: 'no model' }]
      : models.map((model) => ({ ...request, model })),
  )
  test.each(each)(
    '$model answers the recorded Open WebUI request "$kind"',
    async ({ method, path, headers, body, model }) => {
      setup.services.received.length = 0
      setup.services.refusals.length = 0
      // The recording's gateway had a field of its own, `x_gateway`, which the test services reject.
      const { x_gateway: _own, ...known } = body ?? {}
      const requestFields = body === null ? null : { ...known, model }
      const response = await fetch(setup.gateway.url + path, {
        method,
        headers: headers.filter(([name]) => name !== 'Host').map(ours),
        ...(requestFields === null ? {} : { body: pythonJson(requestFields) }),
      })
      const text = await response.text()
      expect({ status: response.status, refusals: setup.services.refusals, text }).toMatchObject({
        status: 200,
        refusals: [],
      })
      for (const { json } of setup.services.received)
        expect(JSON.stringify(json)).not.toMatch(MARKER)
    },
  )
})

/** Header names are configurable; the recording's begin with X-Gw-. */
function ours([name, value]: readonly [string, string]): [string, string] {
  return [name.replace(/^X-Gw-/, 'X-Backstory-'), value.replace('<api-key>', 'any')]
}
