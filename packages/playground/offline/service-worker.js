/**
 * Lets the page work without a network after it was loaded once. The build puts the list of its files and a version here.
 * The page itself is asked for anew as long as there is a network, so that a newer one is never hidden by a kept one; its
 * parts, whose names change with their content, come from what was kept.
 */

const FILES = ["__FILES__"];
const KEPT = "ranksim-page-__VERSION__";

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(KEPT);
    await cache.addAll(FILES);
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith("ranksim-page-") && name !== KEPT);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(request.mode === "navigate" ? newest(request) : kept(request));
});

async function newest(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const known = await caches.match("./", { cacheName: KEPT });
    if (known) return known;
    throw error;
  }
}

async function kept(request) {
  return (await caches.match(request, { cacheName: KEPT })) ?? fetch(request);
}
