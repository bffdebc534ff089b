// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

// The instances that are proved, with the sizes of the searches.

var proofs = []proof{
	{question{algorithm: NAIVE, n: 2, k: 1}, 37, 74},
	{question{algorithm: NAIVE, n: 3, k: 1}, 1132, 3396},
	{question{algorithm: NAIVE, n: 3, k: 2}, 406, 1218},
	{question{algorithm: NAIVE, n: 4, k: 2}, 26578, 106312},
	{question{algorithm: EXCL, n: 2, k: 1}, 37, 74},
	{question{algorithm: EXCL, n: 2, k: 2, crashes: 1}, 9, 18},
	{question{algorithm: EXCL, n: 2, k: 3, crashes: 2}, 9, 18},
	{question{algorithm: EXCL, n: 3, k: 1}, 2039, 6117},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1}, 530, 1590},
	{question{algorithm: EXCL, n: 3, k: 3, crashes: 2}, 27, 81},
	{question{algorithm: EXCL, n: 4, k: 3, crashes: 2}, 8099, 32396},
	{question{algorithm: NAIVE, n: 4, k: 1}, 51457, 205828},
	{question{algorithm: EXCL, n: 4, k: 1}, 279494, 1117976},
	{question{algorithm: EXCL, n: 4, k: 2, crashes: 1}, 114746, 458984},
	{question{algorithm: GTEX, n: 4, k: 3, crashes: 2}, 8099, 32396},
	{question{algorithm: EXCL, n: 3, k: 2, faults: "crash=1"}, 2120, 6360},
	{question{algorithm: EXCL, n: 3, k: 1, variant: "whole-scan"}, 4304, 12912},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1, variant: "whole-scan"}, 1320, 3960},
	{question{algorithm: GTEX, n: 2, k: 1}, 37, 74},
	{question{algorithm: GTEX, n: 3, k: 1}, 2039, 6117},
	{question{algorithm: GTEX, n: 3, k: 2, crashes: 1}, 530, 1590},
	{question{algorithm: GTEX, n: 4, k: 1}, 9889, 39556},
	{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan"}, 17529, 70116},
	{question{algorithm: EXCL, n: 3, k: 1, more: "cancel=yes"}, 2822, 13426},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1, more: "cancel=yes"}, 584, 2665},
	{question{algorithm: GTEX, n: 4, k: 1, more: "cancel=yes"}, 15825, 95900},
	{question{algorithm: EXCL, n: 3, k: 1, faults: "crash=2,restart=2"}, 62529, 230943},
	{question{algorithm: EXCL, n: 3, k: 2, faults: "crash=3,restart=3"}, 21326, 86673},
	{question{algorithm: GTEX, n: 4, k: 1, faults: "crash=1,restart=1"}, 98550, 433756},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1, more: "names=yes"}, 2138, 6414},
	{question{algorithm: EXCL, n: 3, k: 2, more: "names=yes", faults: "crash=2,restart=2"}, 59928, 222828},
	{question{algorithm: EXCL, n: 4, k: 3, more: "names=yes"}, 77768, 311072},
	{question{algorithm: EXCL, n: 2, k: 1, more: "express=yes"}, 196, 392},
	{question{algorithm: EXCL, n: 3, k: 1, more: "express=yes"}, 10386, 31158},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1, more: "express=yes"}, 6755, 20265},
	{question{algorithm: GTEX, n: 4, k: 1, more: "express=yes"}, 125348, 501392},
	{question{algorithm: EXCL, n: 3, k: 2, more: "express=yes cancel=yes names=yes", faults: "crash=1,restart=1"}, 155293, 578616},
	{question{algorithm: EXCL, n: 3, k: 1, more: "express=yes cancel=yes try=yes"}, 20288, 82857},
	{question{algorithm: GTEX, n: 4, k: 1, more: "express=yes cancel=yes"}, 216245, 1118732},
	{question{algorithm: EXCL, n: 2, k: 1, more: "express=yes try=yes"}, 286, 608},
	{question{algorithm: EXCL, n: 3, k: 1, more: "express=yes try=yes"}, 15286, 47919},
	{question{algorithm: EXCL, n: 3, k: 2, crashes: 1, more: "express=yes try=yes cancel=yes"}, 14592, 53396},
}

var longProofs = []proof{
	{question{algorithm: GTEX, n: 4, k: 2, crashes: 1}, 573730, 2294920},
	{question{algorithm: EXCL, n: 5, k: 3, crashes: 2}, 6741597, 33707985},
	{question{algorithm: GTEX, n: 5, k: 1}, 497697, 2488485},
	{question{algorithm: EXCL, n: 4, k: 2, crashes: 1, more: "express=yes"}, 4198880, 16795520},
	{question{algorithm: EXCL, n: 4, k: 2, more: "express=yes cancel=yes"}, 1045182, 5964712},
	{question{algorithm: EXCL, n: 4, k: 3, crashes: 2, more: "express=yes"}, 2699400, 10797600},
}
