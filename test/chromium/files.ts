/** Files of the machine for tests in a worker of Chromium: synchronous requests to the test server (serve.ts). */

declare class XMLHttpRequest {
  responseType: string
  readonly status: number
  readonly response: ArrayBuffer
  open(method: string, url: string, asynchronous: boolean): void
  send(): void
}

/** Bytes of `/shared/…`, `/actors/…` or `/root/…`; undefined when there is no such file. */
export function fetchSync(path: string): Uint8Array | undefined {
  const request = new XMLHttpRequest()
  request.open('GET', path.split('/').map(encodeURIComponent).join('/'), false)
  request.responseType = 'arraybuffer'
  request.send()
  return request.status === 200 ? new Uint8Array(request.response) : undefined
}

/** Names in a folder; undefined when there is no such folder. */
export function listSync(path: string): string[] | undefined {
  const bytes = fetchSync(`/list${path}`)
  return bytes === undefined ? undefined : (JSON.parse(new TextDecoder().decode(bytes)) as string[])
}
