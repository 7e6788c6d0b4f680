import { RemovalPolicy } from "aws-cdk-lib";
import { expect, test } from "vitest";

import { encryptionKey } from "../../infra/encryption-key.ts";
import { propertiesOf, statementsOf, templateOf } from "./synth.ts";

const withKey = templateOf((stack) => ({
  encryptionKey: encryptionKey(stack, "Key", RemovalPolicy.DESTROY),
}));
const withoutKey = templateOf();
const keyArn = { "Fn::GetAtt": [expect.stringMatching(/^Key/), "Arn"] };

test("with a customer-managed key, everything at rest is encrypted with it", () => {
  expect(propertiesOf(withKey, "AWS::DynamoDB::Table")).toMatchObject([
    { SSESpecification: { SSEEnabled: true, SSEType: "KMS", KMSMasterKeyId: keyArn } },
  ]);
  expect(propertiesOf(withKey, "AWS::SQS::Queue")).toMatchObject([
    { KmsMasterKeyId: keyArn },
    { KmsMasterKeyId: keyArn },
  ]);
  expect(propertiesOf(withKey, "AWS::SecretsManager::Secret")).toMatchObject([
    { KmsKeyId: keyArn },
  ]);
  expect(propertiesOf(withKey, "AWS::Logs::LogGroup")).toMatchObject([{ KmsKeyId: keyArn }]);
});

test("without one, AWS's own keys encrypt and nothing asks for KMS", () => {
  expect(propertiesOf(withoutKey, "AWS::SQS::Queue")).toMatchObject([
    { SqsManagedSseEnabled: true },
    { SqsManagedSseEnabled: true },
  ]);
  expect(JSON.stringify(withoutKey.toJSON())).not.toMatch(/kms/i);
});

test("the key rotates, and only the log groups of its stack may use it by the service's name", () => {
  expect(propertiesOf(withKey, "AWS::KMS::Key")).toMatchObject([
    {
      EnableKeyRotation: true,
      KeyPolicy: {
        Statement: expect.arrayContaining([
          expect.objectContaining({
            Sid: "Logs",
            Principal: {
              Service: { "Fn::Join": ["", ["logs.", { Ref: "AWS::Region" }, ".amazonaws.com"]] },
            },
            Condition: {
              ArnLike: {
                "kms:EncryptionContext:aws:logs:arn": {
                  "Fn::Join": ["", expect.arrayContaining([":log-group:Stack-*"])],
                },
              },
            },
          }),
        ]),
      },
    },
  ]);
});

test("the function may use the key only through the services that it calls", () => {
  expect(statementsOf(withKey)["UseKey"]).toStrictEqual({
    Sid: "UseKey",
    Effect: "Allow",
    Action: [
      "kms:Decrypt",
      "kms:DescribeKey",
      "kms:Encrypt",
      "kms:GenerateDataKey",
      "kms:GenerateDataKeyWithoutPlaintext",
      "kms:ReEncryptFrom",
      "kms:ReEncryptTo",
    ],
    Resource: keyArn,
    Condition: {
      StringEquals: {
        "kms:ViaService": ["dynamodb", "sqs", "secretsmanager"].map((service) => ({
          "Fn::Join": ["", [`${service}.`, { Ref: "AWS::Region" }, ".amazonaws.com"]],
        })),
      },
    },
  });
});
