/** Teach it: classes of one's own, by drawing, by camera or by folders. Each example trains at once. */

import { useEffect, useRef, useState } from "preact/hooks";
import { greyOf, greyOfFile } from "../drawing/photo.ts";
import type { NamedFile } from "../protocol.ts";
import { isBlank } from "../state/sampling.ts";
import { SEEN, type TaughtClass } from "../state/teaching.ts";
import { useController, usePage } from "./context.ts";
import { filesOfInput } from "./dropping.ts";
import { Notice } from "./notice.tsx";
import { Picture } from "./pictures.tsx";
import { TeachTakeAway } from "./teach-take-away.tsx";
import { counted, value as rounded } from "./text.ts";

/** Examples of a class that are shown. */
const SHOWN = 6;

/** A frame of the camera is read this often. */
const FRAME_MILLISECONDS = 150;

export function TeachPanel() {
  const controller = useController();
  const { teaching, sampling } = controller;
  const { sample } = usePage();
  const taught = teaching.taught.value;
  const [error, setError] = useState("");
  const camera = useCamera(setError);
  const folder = useRef<HTMLInputElement>(null);
  if (!taught) return null;
  const attempt = (work: Promise<void>) => {
    setError("");
    work.catch((failure: Error) => setError(failure.message));
  };
  const shown = sample.value?.sample;
  const canAdd = camera.isOn || (shown?.form === "dense" && !isBlank(shown));
  const add = (at: number) => {
    if (shown?.form !== "dense") return;
    attempt(teaching.add(at, camera.isOn ? "seen" : taught.kind, [Uint8Array.from(shown.values)]));
    if (taught.kind === "drawn" && !camera.isOn) sampling.clear();
  };
  const addFolders = (files: readonly NamedFile[]) =>
    attempt(foldersOf(files).then((found) => teaching.addFolders(found)));
  const examples = taught.classes.reduce((sum, one) => sum + one.examples.length, 0);
  const named = taught.classes.filter((one) => one.examples.length > 0).length;
  return (
    <section class="card teach" aria-labelledby="teach-title">
      <div class="panel-head">
        <h2 id="teach-title">Teach it</h2>
        <span class="hint" role="status" data-testid="taught">
          {named < 2
            ? "Draw something, then say what it is: two classes with an example each are enough."
            : `Trained on ${counted(examples, "example")}${teaching.step.value === undefined ? "" : ` in ${rounded(Math.round(teaching.step.value))} ms`}. Draw another to see what it makes of it.`}
        </span>
      </div>
      <ul class="taught">
        {taught.classes.map((one, at) => (
          <ClassCard
            key={`${at} ${one.name}`}
            one={one}
            canAdd={canAdd}
            verb={camera.isOn ? "Add this picture" : "Add the drawing"}
            onAdd={() => add(at)}
            onUndo={() => attempt(teaching.removeLast(at))}
            onName={(name) => attempt(teaching.rename(at, name))}
          />
        ))}
      </ul>
      {error && <Notice kind="error" text={error} />}
      <div class="buttons">
        <button type="button" onClick={() => attempt(teaching.addClass())}>
          Another class
        </button>
        <button type="button" aria-pressed={camera.isOn} onClick={camera.toggle}>
          Camera
        </button>
        <button type="button" onClick={() => folder.current?.click()}>
          Folders…
        </button>
        <button type="button" class="quiet" disabled={examples === 0} onClick={() => attempt(teaching.startOver())}>
          Start over
        </button>
        <input
          ref={(element) => {
            folder.current = element;
            element?.setAttribute("webkitdirectory", "");
          }}
          type="file"
          hidden
          data-testid="teach-folder"
          onChange={({ currentTarget }) => addFolders(filesOfInput(currentTarget))}
        />
      </div>
      {camera.view}
      {named >= 2 && <TeachTakeAway />}
    </section>
  );
}

interface ClassCardProps {
  readonly one: TaughtClass;
  readonly canAdd: boolean;
  readonly verb: string;
  readonly onAdd: () => void;
  readonly onUndo: () => void;
  readonly onName: (name: string) => void;
}

function ClassCard({ one: { name, examples }, canAdd, verb, onAdd, onUndo, onName }: ClassCardProps) {
  const size = useController().teaching.size;
  const { model, explanation, data } = usePage();
  const answer = explanation.value?.labels[0];
  const high = data.value?.isPhoto ? 255 : (data.value?.high ?? 4);
  return (
    <li class={model.value && answer === name ? "taught-class chosen" : "taught-class"}>
      <input
        type="text"
        aria-label="Name of the class"
        // What is being typed must not be undone by a step of training.
        defaultValue={name}
        maxLength={40}
        onChange={({ currentTarget }) => onName(currentTarget.value)}
      />
      <div class="thumbs" aria-label={counted(examples.length, "example")} role="img">
        {examples.slice(-SHOWN).map((picture, j) => (
          <Picture key={`${examples.length}-${j}`} pixels={picture.map((pixel) => (255 * pixel) / high)} size={size} />
        ))}
        {examples.length === 0 && <span class="hint">no example yet</span>}
        {examples.length > SHOWN && <span class="hint">of {examples.length}</span>}
      </div>
      <div class="buttons">
        <button type="button" class={canAdd ? "primary" : ""} disabled={!canAdd} onClick={onAdd}>
          {verb}
        </button>
        {examples.length > 0 && (
          <button type="button" class="quiet" aria-label={`Take back one of ${name}`} onClick={onUndo}>
            Take back
          </button>
        )}
      </div>
    </li>
  );
}

/** The camera, asked for when it is switched on and never before: what it sees is the sample, many times a second. */
function useCamera(onError: (text: string) => void) {
  const { sampling, teaching } = useController();
  const [stream, setStream] = useState<MediaStream>();
  const film = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const video = film.current;
    if (!stream || !video) return;
    video.srcObject = stream;
    void video.play().catch(() => undefined);
    const timer = setInterval(() => {
      if (video.videoWidth === 0) return;
      const grey = greyOf(video, { width: video.videoWidth, height: video.videoHeight }, SEEN.imageSize);
      sampling.look(Float64Array.from(grey));
    }, FRAME_MILLISECONDS);
    return () => {
      clearInterval(timer);
      for (const track of stream.getTracks()) track.stop();
    };
  }, [stream, sampling]);
  const toggle = async () => {
    onError("");
    if (stream) return setStream(undefined);
    try {
      await teaching.prepare("seen");
      setStream(await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false }));
    } catch (error) {
      const isRefused = error instanceof DOMException && error.name === "NotAllowedError";
      onError(
        isRefused
          ? "The camera was not allowed. Allow it beside the address of the page, or teach by drawing."
          : `There is no camera to look through: ${(error as Error).message}`,
      );
    }
  };
  const view = stream && <video ref={film} class="camera" muted playsInline aria-label="What the camera sees" />;
  return { isOn: stream !== undefined, toggle: () => void toggle(), view };
}

/** Pictures by the folder that they are in; refused where there are none. */
async function foldersOf(files: readonly NamedFile[]): Promise<Map<string, Uint8Array[]>> {
  const found = new Map<string, Uint8Array[]>();
  for (const { path, file } of files) {
    const folder = path.split("/").at(-2);
    const grey = folder && !file.name.startsWith(".") ? await greyOfFile(file, SEEN.imageSize) : undefined;
    if (folder && grey) found.set(folder, [...(found.get(folder) ?? []), grey]);
  }
  if (found.size > 0) return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  throw new Error("No pictures were found: choose a folder that has a folder of pictures for each class.");
}
