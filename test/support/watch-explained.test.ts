/** What holds every gateway of a test to what it says that it sent finds what is not so. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turnIdOfResponse } from '../../src/core/turn-derived-ids.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { sqliteFile } from '../server/stored-object-routes/databases.ts'
import { arrivedIn } from './arrived.ts'
import { explainedFaults } from './explained.ts'
import { startGateway, upstreams } from './gateway.ts'
import { answerJson, startUpstream, type Upstream } from './upstream.ts'
import { said } from './scribe.ts'
import { storedFaults } from './watch-explained.ts'

let upstream: Upstream
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  upstream = await startUpstream(answerJson(200, said('Hello.')))
  environment = upstreams({ name: 'c', wire: 'chat', baseUrl: upstream.url, models: ['*'] })
})
afterAll(() => upstream.close())

/** What is found wrong once a gateway has answered whose memory of requests is not as it should be. */
async function faultsWith(
  spoil: (requests: GatewayDependencies['requests']) => Partial<GatewayDependencies['requests']>,
  more: Readonly<Record<string, string>> = {},
  excuse: { readonly unexplained?: string } = {},
): Promise<readonly string[]> {
  const gateway = await startGateway({ ...environment, ...more }, excuse)
  const { requests } = gateway.dependencies
  Object.assign(requests, spoil(requests))
  await gateway.openai.responses.create({ model: 'm', input: 'Say hello.' })
  const faults = await gateway.watch.lookAtLast()
  await gateway.close()
  return faults
}

const asItIs = () => ({})
const notKept = () => ({ keepRequest: () => Promise.resolve() })

describe('of a stored answer', () => {
  test('nothing is found where all is well', async () => {
    expect(await faultsWith(asItIs)).toEqual([])
    expect(upstream.received).toHaveLength(1)
  })

  test('a request that is not the one that arrived is found', async () => {
    const spoilt = ({ loadRequest }: GatewayDependencies['requests']) => ({
      async loadRequest(...asked: Parameters<typeof loadRequest>) {
        const sent = await loadRequest(...asked)
        return sent === null ? null : { ...sent, body: sent.body.replace('hello', 'goodbye') }
      },
    })
    const [fault, ...others] = await faultsWith(spoilt)
    expect(fault).toContain('did not arrive: /v1/chat/completions')
    expect(fault).toMatch(/told from .*Say goodbye.*, arrived .*Say hello/)
    expect(others).toEqual([])
  })

  test('a request that went elsewhere is found', async () => {
    const spoilt = ({ loadRequest }: GatewayDependencies['requests']) => ({
      async loadRequest(...asked: Parameters<typeof loadRequest>) {
        const sent = await loadRequest(...asked)
        return sent === null ? null : { ...sent, about: sent.about.replace('/v1/', '/v2/') }
      },
    })
    expect(await faultsWith(spoilt)).toEqual([expect.stringContaining('did not arrive: /v2/')])
  })

  test('a request that was not kept at all is found', async () => {
    expect(await faultsWith(notKept)).toEqual([
      expect.stringMatching(/is stored without its request$/),
    ])
  })

  test('it may be missing only where nothing is to be kept, or for a reason', async () => {
    expect(await faultsWith(asItIs, { EXPLAIN_KEEP: 'off' })).toEqual([])
    expect(await faultsWith(notKept, {}, { unexplained: 'It is not kept on purpose.' })).toEqual([])
  })

  test('it is found without asking, when the gateway closes', async () => {
    const gateway = await startGateway(environment)
    Object.assign(gateway.dependencies.requests, notKept())
    await gateway.openai.responses.create({ model: 'm', input: 'Say hello.' })
    await expect(gateway.close()).rejects.toMatchObject({
      actual: [expect.stringMatching(/is stored without its request$/)],
    })
  })
})

test('of a gateway that only its database tells of, it is found there', async () => {
  const { url, drop } = await sqliteFile()
  const own = { ...environment, DATABASE_URL: url }
  const gateway = await startGateway(own, { unexplained: 'Only the first request is kept.' })
  const ask = async (input: string) => {
    const { id } = await gateway.openai.responses.create({ model: 'm', input })
    return turnIdOfResponse(id) ?? ''
  }
  const kept = await ask('Say good morning.')
  await gateway.dependencies.requests.allKept()
  Object.assign(gateway.dependencies.requests, notKept())
  const lost = await ask('Say goodbye.')
  await gateway.close()
  const engine = await openEngine(url)
  // What arrived for the first was seen when the gateway closed, and counts once.
  expect((await storedFaults(engine, own)).toSorted()).toEqual([
    expect.stringContaining(`${kept} did not arrive`),
    `${lost} is stored without its request`,
  ])
  await engine.close()
  await drop()
})

test('what arrived once is not what was sent for two answers', () => {
  const arrived = arrivedIn([{ path: '/v1/chat/completions', text: '{"n":1}' }])
  const about = JSON.stringify({ upstream: { url: 'http://upstream/v1/chat/completions' } })
  const told = { body: '{"n":1}', about }
  expect(explainedFaults(told, arrived)).toEqual([])
  expect(explainedFaults(told, arrived)).toHaveLength(1)
})

/** Who starts a gateway without being watched, and why. */
const UNWATCHED: Readonly<Record<string, string>> = {
  'support/gateway.ts': 'It watches.',
  'e2e/hosts.ts': 'It watches.',
  'support/child-gateway.ts': 'Who kills its processes asks them what they have kept.',
  'e2e/restart.test.ts': 'Its processes ask nobody but the demo within them.',
  'e2e/sealed-at-rest.test.ts': 'Its process answers nobody.',
  'e2e/install.test.ts': 'Its processes begin, and answer nobody.',
  'e2e/rehearse.test.ts': 'Its process answers nobody but itself.',
  'gateway/record/expire-unused-turns.test.ts': 'Its Worker answers nobody.',
  'main/commands/explain.test.ts': 'Its process runs a command, and answers nobody.',
}

test('nobody starts a gateway that is not watched', () => {
  const folder = new URL('../', import.meta.url)
  const starts =
    /serve-node\.ts'|createTestHarness|createApp\(|src\/main\/start\.js|src\/main\/node\.ts/
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('bench/'))
    .filter((file) => file !== 'support/watch-explained.test.ts')
    .filter((file) => starts.test(readFileSync(new URL(file, folder), 'utf8')))
  expect(found.toSorted()).toEqual(Object.keys(UNWATCHED).toSorted())
})
