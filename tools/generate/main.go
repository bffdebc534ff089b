// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Command generate writes the Go code of the API's definition: api/v1/*.pb.go from api/v1/*.proto.
//
// It reads the definition with protocompile and hands it to protoc-gen-go and protoc-gen-connect-go, whose versions are
// pinned in tools/go.mod like its own. Nothing but the Go module proxy is needed; protoc is not.
//
//	go -C tools run ./generate          write the code
//	go -C tools run ./generate -check   only say whether the code is what would be written
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	root   = ".." // of the repository, seen from tools
	folder = "api/v1"
)

// plugins write code from the definition. "paths=source_relative" puts it beside the definition.
var plugins = []struct{ name, parameter string }{
	{"protoc-gen-go", "paths=source_relative"},
	{"protoc-gen-connect-go", "paths=source_relative,simple"},
}

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if the code is not what would be written")
	flag.Parse()
	if err := generate(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, check bool) error {
	request, err := read(ctx)
	if err != nil {
		return err
	}
	for _, p := range plugins {
		request.Parameter = proto.String(p.parameter)
		files, err := run(ctx, p.name, request)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := put(f.GetName(), []byte(f.GetContent()), check); err != nil {
				return err
			}
		}
	}
	return nil
}

// read parses the definition and everything that it imports.
func read(ctx context.Context) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("there is no definition in %s", folder)
	}
	var names []string
	for _, p := range paths {
		names = append(names, folder+"/"+filepath.Base(p))
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names}
	seen := map[string]bool{}
	for _, f := range compiled {
		request.ProtoFile = withImports(request.ProtoFile, f, seen)
	}
	return request, nil
}

// withImports appends a file after everything that it imports, as plugins want it.
func withImports(all []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return all
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		all = withImports(all, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(all, protoutil.ProtoFromFileDescriptor(f))
}

// run hands the definition to a plugin.
func run(ctx context.Context, plugin string, request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plugin, err)
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return nil, fmt.Errorf("%s: %w", plugin, err)
	}
	if response.Error != nil {
		return nil, fmt.Errorf("%s: %s", plugin, response.GetError())
	}
	return response.GetFile(), nil
}

// put writes a file, or compares it with what is there.
func put(name string, content []byte, check bool) error {
	path := filepath.Join(root, filepath.FromSlash(name))
	if strings.Contains(name, "..") {
		return fmt.Errorf("a plugin wants to write %q", name)
	}
	if !check {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, content) {
		return fmt.Errorf("%s is not what %s gives: run make generate", name, folder)
	}
	return nil
}
