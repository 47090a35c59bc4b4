/** Tests the check that gateways sent what they report: it must find each kind of deviation. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { turnIdOfResponse } from '../../src/core/turn-derived-ids.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { sqliteFile } from '../server/stored-object-routes/databases.ts'
import { trackReceivedRequests } from './received-requests.ts'
import { findExplanationFaults } from './compare-explanations.ts'
import { startGateway, upstreams } from './gateway.ts'
import { answerJson, startUpstream, type Upstream } from './upstream.ts'
import { chatCompletion } from './summarizing-upstream.ts'
import { findFaultsInDatabase } from './watch-explained.ts'

let upstream: Upstream
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  upstream = await startUpstream(answerJson(200, chatCompletion('Hello.')))
  environment = upstreams({ name: 'c', wire: 'chat', baseUrl: upstream.url, models: ['*'] })
})
afterAll(() => upstream.close())

/** Returns the violations that are found for a gateway whose request store was changed. */
async function faultsWith(
  spoil: (requests: GatewayDependencies['requests']) => Partial<GatewayDependencies['requests']>,
  more: Readonly<Record<string, string>> = {},
  excuse: { readonly unexplained?: string } = {},
): Promise<readonly string[]> {
  const gateway = await startGateway({ ...environment, ...more }, excuse)
  const { requests } = gateway.dependencies
  Object.assign(requests, spoil(requests))
  await gateway.openai.responses.create({ model: 'm', input: 'Say hello.' })
  const faults = await gateway.watch.findLastFaults()
  await gateway.close()
  return faults
}

const asItIs = () => ({})
const notKept = () => ({ saveRequests: () => Promise.resolve() })

describe('comparison of stored requests with the received ones', () => {
  test('the check of stored requests reports nothing for an unchanged gateway', async () => {
    expect(await faultsWith(asItIs)).toEqual([])
    expect(upstream.received).toHaveLength(1)
  })

  test('the check of stored requests reports a stored request whose body differs from the received one', async () => {
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

  test('the check of stored requests reports a stored request whose path differs from the received one', async () => {
    const spoilt = ({ loadRequest }: GatewayDependencies['requests']) => ({
      async loadRequest(...asked: Parameters<typeof loadRequest>) {
        const sent = await loadRequest(...asked)
        return sent === null ? null : { ...sent, about: sent.about.replace('/v1/', '/v2/') }
      },
    })
    expect(await faultsWith(spoilt)).toEqual([expect.stringContaining('did not arrive: /v2/')])
  })

  test('the check of stored requests reports an answer whose request is not stored', async () => {
    expect(await faultsWith(notKept)).toEqual([
      expect.stringMatching(/is stored without its request$/),
    ])
  })

  test('the check of stored requests accepts an answer without a stored request only with EXPLAIN_KEEP=off or a stated reason', async () => {
    expect(await faultsWith(asItIs, { EXPLAIN_KEEP: 'off' })).toEqual([])
    expect(await faultsWith(notKept, {}, { unexplained: 'It is not kept on purpose.' })).toEqual([])
  })

  test('the check of stored requests runs by itself when the gateway closes', async () => {
    const gateway = await startGateway(environment)
    Object.assign(gateway.dependencies.requests, notKept())
    await gateway.openai.responses.create({ model: 'm', input: 'Say hello.' })
    await expect(gateway.close()).rejects.toMatchObject({
      actual: [expect.stringMatching(/is stored without its request$/)],
    })
  })
})

test('the check of stored requests reports a missing request even if only the database is accessible', async () => {
  const { url, drop } = await sqliteFile()
  const own = { ...environment, DATABASE_URL: url }
  const gateway = await startGateway(own, { unexplained: 'Only the first request is kept.' })
  const ask = async (input: string) => {
    const { id } = await gateway.openai.responses.create({ model: 'm', input })
    return turnIdOfResponse(id) ?? ''
  }
  const kept = await ask('Say good morning.')
  await gateway.dependencies.requests.waitForPendingWrites()
  Object.assign(gateway.dependencies.requests, notKept())
  const lost = await ask('Say goodbye.')
  await gateway.close()
  const engine = await openEngine(url)
  // The first request was matched when the gateway closed, and matches only once.
  expect((await findFaultsInDatabase(engine, own)).toSorted()).toEqual([
    expect.stringContaining(`${kept} did not arrive`),
    `${lost} is stored without its request`,
  ])
  await engine.close()
  await drop()
})

test('the check of stored requests does not match one received request with two stored ones', () => {
  const arrived = trackReceivedRequests([{ path: '/v1/chat/completions', text: '{"n":1}' }])
  const about = JSON.stringify({ upstream: { url: 'http://upstream/v1/chat/completions' } })
  const told = { body: '{"n":1}', about }
  expect(findExplanationFaults(told, arrived)).toEqual([])
  expect(findExplanationFaults(told, arrived)).toHaveLength(1)
})

/** The files that start a gateway without this check, and why. */
const UNWATCHED: Readonly<Record<string, string>> = {
  'support/gateway.ts': 'Runs the check itself.',
  'e2e/hosts.ts': 'Runs the check itself.',
  'support/child-gateway.ts': 'Tests that kill its processes check the stored requests.',
  'e2e/restart.test.ts': 'Its processes use only the demo model.',
  'e2e/encryption-at-rest.test.ts': 'Its process answers no request.',
  'e2e/install.test.ts': 'Its processes answer no request.',
  'e2e/limits-of-d1.test.ts': 'Its own Workers answer no request.',
  'e2e/rehearse.test.ts': 'Its process answers only its own requests.',
  'gateway/record/expire-unused-turns.test.ts': 'Its Worker answers no request.',
  'gateway/round-trips.test.ts': 'Its Workers use only the demo model.',
  'main/cloudflare-worker.test.ts': 'Its Worker uses only the demo model.',
  'main/commands/explain.test.ts': 'Its process only runs a command.',
  'main/help.test.ts': 'Its processes answer no request.',
  'old-databases/databases.ts': 'Its answers are compared with stored ones.',
  'old-databases/old-databases.test.ts': 'Its answers are compared with stored ones.',
  'server/stored-object-routes/failing-database.test.ts': 'Its database answers nothing.',
}

test('every other test file starts gateways with the check of stored requests', () => {
  const folder = new URL('../', import.meta.url)
  const starts =
    /serve-node\.ts'|createTestHarness|createApp\(|src\/main\/start\.js|src\/main\/node\.ts/
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('bench/'))
    .filter((file) => file !== 'support/watch-explained.test.ts')
    .filter((file) => starts.test(readFileSync(new URL(file, folder), 'utf8')))
  expect(found.toSorted()).toEqual(Object.keys(UNWATCHED).toSorted())
})
