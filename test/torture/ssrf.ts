/**
 * Asks the gateway to load images and files from private addresses: written in every notation, behind names, behind
 * names that change, behind redirects. It connects to none, and tells none to an upstream.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startChild } from '../support/child-gateway.ts'
import { startServices } from '../support/services/start-services.ts'
import { createFakeName, isPrivateAddress, PUBLIC_ADDRESS } from './support/fake-names.ts'
import { createFaultList } from './support/fault-list.ts'
import type { TorturePart } from './support/part-interface.ts'
import { forEachParallel } from './support/pause.ts'
import type { Random } from './support/random.ts'

const ADDRESSES = [
  '127.0.0.1', '127.8.8.8', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1', '169.254.169.254',
  '100.64.0.1', '100.100.100.200', '198.18.0.1', '192.0.0.192', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1',
  'fc00::1', 'fd00:ec2::254', 'ff02::1', 'fec0::1', '::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '100::1',
] // prettier-ignore

/** Hosts that are private as they are written, whatever DNS says. */
const PRIVATE_HOSTS = [
  ...ADDRESSES.map((address) => (address.includes(':') ? `[${address}]` : address)),
  '127.1', '127.0.1', '0', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1', '0x7f.0x0.0x0.0x1', '127.0.0.1.',
  '127.0.0.1..', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '169.254.43518', '0xA9.254.0251.254', '10.1', '012.0.0.1',
  '192.168.257', '①②⑦.⓪.⓪.①', '１２７.0.0.1', '127。0。0。1', '[::ffff:0:127.0.0.1]', '[0:0:0:0:0:0:0:1]',
  '[0000::0001]', '[::ffff:169.254.169.254]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ｌｏｃａｌｈｏｓｔ', 'nas.local',
  'router.lan', 'metadata.google.internal', 'metadata', 'intranet', 'db', 'x.svc.cluster.local', 'x.home.arpa', 'x.corp', 'x.test',
] // prettier-ignore

/** URLs of a host. Some are no valid URLs, or name a port or credentials. */
const FORMS: readonly ((host: string) => string)[] = [
  (host) => `http://${host}/`,
  (host) => `https://${host}/`,
  (host) => `http://${host}:80/`,
  (host) => `http://${host}:8080/`,
  (host) => `HTTP://${host}/`,
  (host) => ` http://${host}/`,
  (host) => `ht\ttp://${host}/`,
  (host) => `http:/${host}/`,
  (host) => `http:${host}/`,
  (host) => `http:\\\\${host}\\`,
  (host) => `http://user:pass@${host}/`,
  (host) => `http://public.example@${host}/`,
  (host) => `http://public.example:80@${host}/`,
  (host) => `http://${host}#@public.example/`,
  (host) => `http://${host}\\@public.example/`,
  (host) => `http://public.example\\@${host}/`,
  (host) => `//${host}/`,
  (host) => `ftp://${host}/`,
  (host) => `gopher://${host}/`,
  (host) => `file://${host}/etc/passwd?`,
  (host) => `ws://${host}/`,
]

interface Case {
  readonly url: string
  /** True if the URL itself is public, and only DNS or a redirect leads to a private address. */
  readonly mayBeSent: boolean
}

const REQUESTS_PER_ROUND = 100
const MODELS = ['gemini-3.8-flash', 'gpt-5', 'claude-sonnet-5', 'chat-model']

export const ssrf: TorturePart = {
  name: 'ssrf',
  description:
    'media URLs that lead to private addresses: notations, names, changing names, redirects',
  rounds: 20,
  async run({ rounds, isBrief, random, folder, printProgress }) {
    const faults = createFaultList('connected', 'sent', 'failed')
    const services = await startServices()
    const lure = await startLure()
    const file = join(folder, 'connections')
    writeFileSync(file, '')
    const gateway = await startChild(
      {
        ...services.environment,
        DATABASE_URL: 'sqlite::memory:',
        MEDIA_FETCH: 'auto',
        MEDIA_FETCH_TIMEOUT_SECONDS: '2',
        TORTURE_NETWORK_FILE: file,
        TORTURE_NETWORK_PORT: String(lure.port),
        TORTURE_UPSTREAM_PORT: new URL(services.url).port,
      },
      [new URL('support/preload-network.ts', import.meta.url)],
    )
    const listed = listCases()
    const cases = [
      ...listed.filter(() => !isBrief || random.below(20) === 0),
      ...Array.from({ length: rounds * REQUESTS_PER_ROUND }, () => combineCases(random)),
    ]
    let number = 0
    const ask = async ({ url, mayBeSent }: Case): Promise<void> => {
      const mark = `t${(number += 1)}x`
      const { status } = await sendMediaRequest(gateway.url, url + mark, random)
      if (status >= 500 && status !== 502) faults.add('failed', `status ${status} for ${url}`)
      if (mayBeSent) return
      const sent = services.received.find(({ text }) => text.includes(mark))
      if (sent !== undefined && !isNotice(sent.text, mark))
        faults.add('sent', `${url} in ${sent.text.slice(0, 1000)}`)
      if (number % 1000 === 0) printProgress(`${number} of ${cases.length} URLs`)
    }
    // Otherwise nothing would be connected to, for another reason.
    for (const model of MODELS)
      await ask({ url: `http://public.example/control-${model}`, mayBeSent: true })
    await forEachParallel(cases, 8, ask)
    const connected = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    for (const address of connected.filter(isPrivateAddress)) faults.add('connected', address)
    if (!connected.includes(PUBLIC_ADDRESS))
      faults.add('failed', 'A public address was not loaded either.')
    await gateway.kill('SIGKILL')
    await Promise.all([services.close(), lure.close()])
    return {
      tried: `${cases.length.toLocaleString('en')} URLs`,
      faults,
      figures: `${connected.length.toLocaleString('en')} connections, to public addresses`,
    }
  },
}

function listCases(): readonly Case[] {
  return [
    ...PRIVATE_HOSTS.flatMap((host) =>
      FORMS.map((form) => ({ url: form(host), mayBeSent: false })),
    ),
    ...ADDRESSES.flatMap((address) => [
      named('all', [address]),
      named('all', [PUBLIC_ADDRESS, address]),
      named('changing', [PUBLIC_ADDRESS, address]),
    ]),
    ...PRIVATE_HOSTS.flatMap((host) => FORMS.slice(0, 11).map((form) => redirected(form(host)))),
  ]
}

function named(kind: 'all' | 'changing', addresses: readonly string[]): Case {
  return { url: `http://${createFakeName(kind, addresses)}/`, mayBeSent: true }
}

function redirected(url: string): Case {
  return { url: `http://public.example/redirect?to=${encodeURIComponent(url)}`, mayBeSent: true }
}

/** A random notation behind up to two redirects, or behind a name that changes between them. */
function combineCases(random: Random): Case {
  const host = random.pick([
    random.pick(PRIVATE_HOSTS),
    createFakeName('changing', [PUBLIC_ADDRESS, random.pick(ADDRESSES)]),
    createFakeName('all', [random.pick(ADDRESSES)]),
  ])
  let one = redirected(random.pick(FORMS)(host))
  if (random.below(2) === 0) one = redirected(one.url)
  if (random.below(4) === 0)
    one = redirected(
      one.url.replace(
        'public.example',
        createFakeName('changing', [PUBLIC_ADDRESS, random.pick(ADDRESSES)]),
      ),
    )
  return one
}

function sendMediaRequest(gatewayUrl: string, url: string, random: Random): Promise<Response> {
  const model = random.pick(MODELS)
  const parts = [
    { type: 'input_image', image_url: url, detail: 'auto' },
    { type: 'input_file', file_url: url },
  ]
  const isChat = random.below(2) === 0
  const body = isChat
    ? { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
    : { input: [{ role: 'user', content: [random.pick(parts)] }] }
  return fetch(`${gatewayUrl}/v1/${isChat ? 'chat/completions' : 'responses'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
  }).then(async (response) => {
    await response.text()
    return response
  })
}

/** True if the mark is only in a text that tells the model that the image was left out. */
function isNotice(sent: string, mark: string): boolean {
  return !new RegExp(
    `"(?:url|image_url|file_url|fileUri|file_uri)":\\s*(?:\\{\\s*"url":\\s*)?"[^"]*${mark}`,
  ).test(sent)
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The server at the end of all connections: redirects as its path says, and has a picture otherwise. */
async function startLure() {
  const server = createServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://lure').searchParams.get('to')
    if (to !== null) response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end()
    else response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
