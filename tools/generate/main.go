// Command generate compiles the project's .proto files to Go, and writes the types of
// the clients from the OpenAPI document. It needs no protoc: protocompile parses the
// files, and the plugins, tools of this module, write the code.
//
//	generate          writes the code
//	generate -check   reports generated files that are not up to date
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// files are the .proto files, relative to the root of the project.
var files = []string{"internal/orderpb/order.proto"}

// plugins write the code.
var plugins = []struct{ name, parameter string }{{"protoc-gen-go", "paths=source_relative"}}

func main() {
	check := flag.Bool("check", false, "report stale files instead of writing them")
	root := flag.String("root", "..", "root of the project")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	generated, err := generate(root)
	if err != nil {
		return err
	}
	types, err := readModel(root)
	if err != nil {
		return err
	}
	for _, language := range languages {
		generated = append(generated, &pluginpb.CodeGeneratorResponse_File{Name: &language.file, Content: proto.String(language.write(types))})
	}
	for _, file := range generated {
		path := filepath.Join(root, file.GetName())
		if !check {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
				return err
			}
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(content, []byte(file.GetContent())) {
			return fmt.Errorf("%s is not up to date: run scripts/generate", file.GetName())
		}
	}
	return nil
}

// generate returns the Go files of all .proto files.
func generate(root string) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // for the comments
	}
	compiled, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: files}
	for _, file := range compiled {
		request.ProtoFile = append(request.ProtoFile, proto.Clone(protoutil.ProtoFromFileDescriptor(file)).(*descriptorpb.FileDescriptorProto))
	}
	var generated []*pluginpb.CodeGeneratorResponse_File
	for _, plugin := range plugins {
		request.Parameter = proto.String(plugin.parameter)
		written, err := runPlugin(plugin.name, request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", plugin.name, err)
		}
		generated = append(generated, written...)
	}
	return generated, nil
}

// runPlugin runs a plugin of protoc and returns the files that it writes.
func runPlugin(name string, request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	input, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	plugin := exec.Command("go", "tool", name)
	plugin.Stdin, plugin.Stderr = bytes.NewReader(input), os.Stderr
	output, err := plugin.Output()
	if err != nil {
		return nil, err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response.GetFile(), nil
}
