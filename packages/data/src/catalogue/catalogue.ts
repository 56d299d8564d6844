/**
 * The data sets that can be asked for by name: where they come from, what they hold, on what terms. No data is in this
 * file. Digests marked "plain" are of the unpacked content, computed from copies that were compared with the published ones.
 */

import { RanksimError } from "@ranksim/core";
import type { CatalogueEntry, CatalogueFile, CatalogueSource } from "./entry.ts";

const TRAIN = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"] as const;
const TEST = ["t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"] as const;
const IMAGES = { features: 784, imageSize: { width: 28, height: 28 } } as const;

/** Images and labels in IDX; `facts` has size, SHA-256 and SHA-256 of the plain content of each. */
function idxPart(
  bases: readonly string[],
  names: readonly [string, string],
  rows: number,
  facts: readonly (readonly [byteLength: number, sha256: string, plainSha256: string])[],
): readonly CatalogueSource[] {
  const files = names.map((name, i): CatalogueFile => {
    const [byteLength, sha256, plainSha256] = facts[i];
    return { name, addresses: bases.map((base) => base + name), byteLength, sha256, plainSha256 };
  });
  return [{ form: "idx", files, rows }];
}

const FASHION = [
  "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
  "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
];
const MNIST = ["https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/"];
const KMNIST = ["https://codh.rois.ac.jp/kmnist/dataset/kmnist/", "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"];
const K49 = ["https://codh.rois.ac.jp/kmnist/dataset/k49/", "http://codh.rois.ac.jp/kmnist/dataset/k49/"];

function k49Part(part: string, rows: number, imagesMd5: string, labelsMd5: string): readonly CatalogueSource[] {
  const file = (name: string, md5: string) => ({ name, addresses: K49.map((base) => base + name), md5 });
  const files = [file(`k49-${part}-imgs.npz`, imagesMd5), file(`k49-${part}-labels.npz`, labelsMd5)];
  return [{ form: "npz", files, rows }];
}

const NEWSGROUPS: CatalogueFile = {
  name: "20news-bydate.tar.gz",
  addresses: [
    "https://ndownloader.figshare.com/files/5975967",
    "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
  ],
  byteLength: 14464277,
  sha256: "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
};

function lyrlFile(name: string, number: number, sha256: string): CatalogueFile {
  return { name, addresses: [`https://ndownloader.figshare.com/files/${number}`], sha256 };
}

const RCV1_TOPICS = lyrlFile(
  "rcv1v2.topics.qrels.gz",
  5976048,
  "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
);

/** Merged subsets have no public address; they are used where they have been copied to the data folder. */
function mergedPart(name: string, rows: number, plainSha256: string): CatalogueSource {
  return { form: "svmlight", files: [{ name, addresses: [], plainSha256 }], rows };
}

/** All data sets, the embedded one first. */
export const catalogue: readonly CatalogueEntry[] = [
  {
    name: "digits",
    title: "Optical Recognition of Handwritten Digits",
    about: "handwritten digits of 13 writers, 8 x 8 pixels of 0 to 16; train is the first two thirds, test the rest",
    homepage: "https://doi.org/10.24432/C50P49",
    licence: "CC BY 4.0",
    citation:
      "E. Alpaydin and C. Kaynak (1998). Optical Recognition of Handwritten Digits. UCI Machine Learning Repository.",
    features: 64,
    imageSize: { width: 8, height: 8 },
    classes: 10,
    parts: {
      all: [{ form: "embedded", files: [], rows: 1797 }],
      train: [{ form: "embedded", files: [], rows: 1198 }],
      test: [{ form: "embedded", files: [], rows: 599 }],
    },
  },
  {
    name: "fashion-mnist",
    title: "Fashion-MNIST",
    about: "photographs of clothes, 28 x 28 grey pixels",
    homepage: "https://github.com/zalandoresearch/fashion-mnist",
    licence: "MIT",
    citation:
      "H. Xiao, K. Rasul, R. Vollgraf (2017). Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms. arXiv:1708.07747.",
    ...IMAGES,
    classes: 10,
    classNames: [
      "T-shirt/top",
      "Trouser",
      "Pullover",
      "Dress",
      "Coat",
      "Sandal",
      "Shirt",
      "Sneaker",
      "Bag",
      "Ankle boot",
    ],
    parts: {
      train: idxPart(FASHION, TRAIN, 60000, [
        [
          26421880,
          "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
          "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        ],
        [
          29515,
          "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
          "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        ],
      ]),
      test: idxPart(FASHION, TEST, 10000, [
        [
          4422102,
          "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
          "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        ],
        [
          5148,
          "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
          "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        ],
      ]),
    },
  },
  {
    name: "mnist",
    title: "MNIST",
    about: "handwritten digits, 28 x 28 grey pixels",
    homepage: "http://yann.lecun.com/exdb/mnist/",
    licence: "CC BY-SA 3.0",
    citation:
      "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner (1998). Gradient-based learning applied to document recognition. Proceedings of the IEEE 86(11), 2278-2324.",
    ...IMAGES,
    classes: 10,
    parts: {
      train: idxPart(MNIST, TRAIN, 60000, [
        [
          9912422,
          "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
          "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ],
        [
          28881,
          "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
          "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ],
      ]),
      test: idxPart(MNIST, TEST, 10000, [
        [
          1648877,
          "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
          "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ],
        [
          4542,
          "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
          "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ],
      ]),
    },
  },
  {
    name: "kmnist",
    title: "Kuzushiji-MNIST",
    about: "cursive Japanese characters, 28 x 28 grey pixels",
    homepage: "http://codh.rois.ac.jp/kmnist/",
    licence: "CC BY-SA 4.0",
    citation:
      '"KMNIST Dataset" (created by CODH), adapted from "Kuzushiji Dataset" (created by NIJL and others), doi:10.20676/00000341. T. Clanuwat et al. (2018). Deep Learning for Classical Japanese Literature. arXiv:1812.01718.',
    ...IMAGES,
    classes: 10,
    classNames: ["お", "き", "す", "つ", "な", "は", "ま", "や", "れ", "を"],
    parts: {
      train: idxPart(KMNIST, TRAIN, 60000, [
        [
          18165135,
          "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
          "7112ba9ec422d98de4885262d4a4dff14cc4fefb81c11ace8bf563a8255df5c3",
        ],
        [
          29497,
          "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
          "2a16eeae62da984b8bd24fa32e31d47291f01dac3fe84d5594f304f71e7d374b",
        ],
      ]),
      test: idxPart(KMNIST, TEST, 10000, [
        [
          3041136,
          "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
          "76fbd229ce87db80dd281af5e6670de4ad0e42fb30a7bd643972994c47c1f42e",
        ],
        [
          5120,
          "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
          "a11dc742be8e781a40a92f53d6a4957e7b7d36df2faa097659131ebfd8fd60c6",
        ],
      ]),
    },
  },
  {
    name: "kuzushiji-49",
    title: "Kuzushiji-49",
    about: "cursive Japanese characters in 49 classes of unequal size, 28 x 28 grey pixels",
    homepage: "http://codh.rois.ac.jp/kmnist/",
    licence: "CC BY-SA 4.0",
    citation:
      '"KMNIST Dataset" (created by CODH), adapted from "Kuzushiji Dataset" (created by NIJL and others), doi:10.20676/00000341. T. Clanuwat et al. (2018). Deep Learning for Classical Japanese Literature. arXiv:1812.01718.',
    ...IMAGES,
    classes: 49,
    parts: {
      train: k49Part("train", 232365, "7ac088b20481cf51dcd01ceaab89d821", "44a8e1b893f81e63ff38d73cad420f7a"),
      test: k49Part("test", 38547, "d352e201d846ce6b94f42c990966f374", "4da6f7a62e67a832d5eb1bd85c5ee448"),
    },
  },
  {
    name: "20newsgroups",
    title: "20 Newsgroups, split by date",
    about: "posts to 20 newsgroups, as text; headers, footers and quotes are removed unless `remove` says otherwise",
    homepage: "http://qwone.com/~jason/20Newsgroups/",
    licence: "none stated; research use",
    citation:
      "K. Lang (1995). NewsWeeder: learning to filter netnews. Proceedings of the 12th International Conference on Machine Learning, 331-339.",
    classes: 20,
    parts: {
      train: [{ form: "newsgroups", files: [NEWSGROUPS], rows: 11314 }],
      test: [{ form: "newsgroups", files: [NEWSGROUPS], rows: 7532 }],
    },
  },
  {
    name: "rcv1",
    title: "RCV1-v2 topics",
    about:
      "news stories of Reuters as tf-idf of 47,236 stems, several of 103 topics each; a smaller merged form (27,613 stories, topics as numbers) is used where only that is found",
    homepage: "https://jmlr.csail.mit.edu/papers/volume5/lewis04a/",
    licence: "research use with citation",
    citation:
      "D. D. Lewis, Y. Yang, T. G. Rose, F. Li (2004). RCV1: a new benchmark collection for text categorization research. Journal of Machine Learning Research 5, 361-397.",
    features: 47236,
    classes: 103,
    multilabel: true,
    parts: {
      train: [
        {
          form: "lyrl2004",
          files: [
            RCV1_TOPICS,
            lyrlFile(
              "lyrl2004_vectors_train.dat.gz",
              5976057,
              "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
            ),
          ],
          rows: 23149,
        },
        mergedPart("merged_train.svm.gz", 14401, "f4b81b49e21fa697551b92879c68c9660b8a24c116ddc959bf67811b4777f59d"),
      ],
      test: [
        {
          form: "lyrl2004",
          files: [
            RCV1_TOPICS,
            lyrlFile(
              "lyrl2004_vectors_test_pt0.dat.gz",
              5976069,
              "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
            ),
            lyrlFile(
              "lyrl2004_vectors_test_pt1.dat.gz",
              5976066,
              "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
            ),
            lyrlFile(
              "lyrl2004_vectors_test_pt2.dat.gz",
              5976063,
              "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
            ),
            lyrlFile(
              "lyrl2004_vectors_test_pt3.dat.gz",
              5976060,
              "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
            ),
          ],
          rows: 781265,
        },
        mergedPart("merged_test.svm.gz", 13212, "2f341899a8cc90890a0461b022d417fcae58f02bcdd0d53236c2fc7851014066"),
      ],
    },
  },
];

/** A data set and the part that was asked for. */
export interface CatalogueChoice {
  readonly entry: CatalogueEntry;
  readonly part: string;
  readonly sources: readonly CatalogueSource[];
}

/** Finds `name` or `name:part`; undefined if the catalogue has no such name. Refuses (code "bad-params") an unknown part. */
export function findDataSet(name: string): CatalogueChoice | undefined {
  const [base, part] = name.split(":", 2);
  const entry = catalogue.find((candidate) => candidate.name === base);
  if (entry === undefined) return undefined;
  const chosen = part ?? Object.keys(entry.parts)[0];
  if (!Object.hasOwn(entry.parts, chosen)) {
    throw new RanksimError(
      "bad-params",
      `${base} has the parts ${Object.keys(entry.parts).join(", ")}, found ${JSON.stringify(part)}`,
    );
  }
  return { entry, part: chosen, sources: entry.parts[chosen] };
}
